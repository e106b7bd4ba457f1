// The pages of the dashboard: they follow changes of the server and draw pictures. Without this script,
// tables, filters and pages work by links and forms.

(() => {
  const body = document.body;
  const find = (id) => document.getElementById(id);
  const connection = find('connection');

  // Messages about the connection.
  const say = (text, kind) => {
    if (connection.textContent === text) return;
    connection.className = kind || '';
    connection.textContent = text;
  };

  const ended = () => {
    say('', 'lost');
    const link = document.createElement('a');
    link.href = location.href;
    link.textContent = 'Sign in again';
    connection.replaceChildren('The session has ended. ', link, '.');
  };

  // Faulty is an answer of the server that is not 200.
  class Faulty extends Error {
    constructor(status, text) {
      super(text);
      this.status = status;
    }
  }

  const load = async (url) => {
    const answer = await fetch(url, {credentials: 'same-origin', cache: 'no-store'});
    if (!answer.ok) throw new Faulty(answer.status, (await answer.text()).trim());
    return answer;
  };

  const report = (fault) => {
    if (fault instanceof Faulty && fault.status === 401) ended();
    else if (fault instanceof Faulty) say(fault.status === 404 ? 'This page does not exist any more.' : fault.message, 'lost');
  };

  // Times in the zone of the reader.
  const short = new Intl.RelativeTimeFormat('en', {numeric: 'auto'});
  const units = [['hour', 3600], ['minute', 60], ['second', 1]];
  const showTimes = () => {
    for (const t of document.querySelectorAll('time')) {
      const at = new Date(t.dateTime);
      const seconds = (at - Date.now()) / 1000;
      const [unit, size] = units.find(([, n]) => Math.abs(seconds) >= n) || units[2];
      t.textContent = Math.abs(seconds) < 10 ? 'just now' : Math.abs(seconds) < 86400 ? short.format(Math.round(seconds / size), unit) : at.toLocaleString('en-GB', {dateStyle: 'medium', timeStyle: 'short'});
      t.title = at.toLocaleString();
    }
  };

  // replace takes the live parts of a page from another answer of the server. Focus and the place of
  // scrolled tables stay.
  const replace = (text) => {
    const next = new DOMParser().parseFromString(text, 'text/html');
    for (const old of document.querySelectorAll('[data-live]')) {
      const part = next.getElementById(old.id);
      if (!part) continue;
      const active = old.contains(document.activeElement) ? document.activeElement : null;
      const head = active && active.closest('thead th'); // sorting changes the address of its link
      const key = active && (active.id ? '#' + CSS.escape(active.id) : head ? `thead th:nth-child(${head.cellIndex + 1}) a` : active.href ? `a[href="${CSS.escape(active.getAttribute('href'))}"]` : '.scroll');
      const scrolled = [...old.querySelectorAll('.scroll')].map((e) => [e.scrollLeft, e.scrollTop]);
      old.replaceWith(document.adoptNode(part));
      [...part.querySelectorAll('.scroll')].forEach((e, i) => scrolled[i] && e.scrollTo(...scrolled[i]));
      const again = key && (part.querySelector(key) || part.querySelector('.scroll'));
      if (again) again.focus({preventScroll: true});
    }
    showTimes();
  };

  // Refreshes of the page, one at a time. They take at most a fifth of the time.
  let busy = false;
  let again = false;
  let rest = 500;
  let visits = 0; // of other queries, of which the last counts
  const afterwards = []; // functions that follow a refresh
  const refresh = async () => {
    if (busy) {
      again = true;
      return;
    }
    busy = true;
    const begun = performance.now();
    const [turn, url] = [visits, location.href];
    try {
      const text = await (await load(url)).text();
      if (turn === visits && url === location.href) replace(text);
      else again = true; // the answer belongs to an earlier query
      for (const f of afterwards) await f();
    } catch (fault) {
      report(fault);
    }
    rest = Math.max(500, 4 * (performance.now() - begun));
    setTimeout(() => {
      busy = false;
      if (again) {
        again = false;
        refresh();
      }
    }, rest);
  };

  // visit shows another query of the same page, unless a later one has begun, and changes the history by a
  // method: pushState, replaceState, or none.
  const visit = async (url, method) => {
    const turn = ++visits;
    try {
      const text = await (await load(url)).text();
      if (turn !== visits) return;
      replace(text);
      if (method) history[method](null, '', url);
    } catch (fault) {
      if (turn !== visits) return;
      if (fault instanceof Faulty) report(fault);
      else say('The server cannot be reached.', 'lost');
    }
  };

  // fill sets the fields of a form to the query of the address.
  const fill = (form) => {
    const query = new URLSearchParams(location.search);
    for (const e of form.elements) if (e.name) e.value = query.get(e.name) || (e.tagName === 'SELECT' ? (e.querySelector('[selected]') || e.options[0]).value : '');
  };

  const queryOf = (form) => {
    const query = new URLSearchParams();
    for (const [key, value] of new FormData(form)) if (value.trim() !== '') query.append(key, value.trim());
    const sort = new URLSearchParams(location.search).get('sort');
    if (sort) query.set('sort', sort);
    const columns = new URLSearchParams(location.search).get('columns');
    if (columns) query.set('columns', columns);
    return query;
  };

  const addForms = () => {
    for (const form of document.querySelectorAll('[data-form]')) {
      const send = (method) => visit(location.pathname + '?' + queryOf(form), method);
      form.addEventListener('submit', (e) => {
        e.preventDefault();
        send('pushState');
      });
      for (const e of form.elements) {
        if (e.tagName === 'SELECT') e.addEventListener('change', () => send('pushState'));
        if (e.type === 'search') e.addEventListener('input', () => send('replaceState')); // one entry for all letters
      }
      addEventListener('popstate', () => {
        fill(form);
        visit(location.href, '');
      });
    }
    body.addEventListener('click', (e) => {
      const link = e.target.closest('[data-live] a');
      if (!link || e.metaKey || e.ctrlKey || e.shiftKey || e.button !== 0) return;
      const url = new URL(link.href);
      if (url.pathname !== location.pathname || !url.search) return;
      e.preventDefault();
      visit(url.pathname + url.search, 'pushState');
    });
  };

  // follow calls changed with the version of the server, at the beginning and after each change.
  const follow = (url, changed) => {
    let source = null;
    let heard = Date.now();
    let lost = false;
    let timer = 0;
    const open = () => {
      clearTimeout(timer);
      if (source) source.close();
      heard = Date.now();
      source = new EventSource(url);
      const message = () => {
        heard = Date.now();
        if (lost) say('');
        lost = false;
      };
      source.addEventListener('change', (e) => {
        message();
        changed(JSON.parse(e.data));
      });
      source.addEventListener('alive', message);
      source.onerror = async () => {
        lost = true;
        say('The connection is lost. Reconnecting …', 'lost');
        if (source.readyState !== EventSource.CLOSED) return; // the browser repeats the request
        try {
          await load(location.href);
        } catch (fault) {
          report(fault);
          if (fault instanceof Faulty && (fault.status === 401 || fault.status === 404)) return;
        }
        timer = setTimeout(choose, 1500);
      };
    };
    const close = () => {
      clearTimeout(timer);
      if (source) source.close();
      source = null;
    };
    setInterval(() => {
      if (source && Date.now() - heard > 30000) open(); // the connection is silent
    }, 5000);
    // Browsers open few connections to a server. Hidden pages have none.
    const choose = () => (document.hidden ? close() : open());
    document.addEventListener('visibilitychange', choose);
    addEventListener('pagehide', close);
    addEventListener('pageshow', (e) => e.persisted && choose());
    choose();
  };

  // echartsLoaded loads ECharts when the first picture needs it.
  let library = null;
  const echartsLoaded = () => {
    library = library || new Promise((resolve, reject) => {
      const script = document.createElement('script');
      script.src = body.dataset.echarts;
      script.onload = resolve;
      script.onerror = () => reject(new Error('the pictures cannot be loaded'));
      document.head.append(script);
    });
    return library;
  };

  const openTrial = (number) => {
    location.href = body.dataset.study + '/trials/' + number;
  };

  const make = (name, attributes, ...children) => {
    const e = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
    e.append(...children);
    return e;
  };

  // The picture of the history on the page of a study.
  const addHistory = () => {
    const place = find('pictures');
    let pictures = null;
    const draw = async () => {
      const data = await (await load(place.dataset.history)).json();
      if (data.trials.length === 0) return;
      await echartsLoaded();
      if (pictures) {
        pictures.update(data);
        return;
      }
      place.append(make('form', {class: 'controls still', id: 'controls', 'aria-label': 'Settings of the picture'}));
      pictures = globalThis.boPictures(data, globalThis.boTheme, {main: place, open: openTrial});
      pictures.addControls();
      pictures.addHistory();
      pictures.renderAll();
    };
    afterwards.push(draw);
    draw().catch(report);
  };

  // job follows a computation of the server.
  const job = (url, progress, button, done) => {
    const source = new EventSource(url);
    button.disabled = true;
    progress.className = '';
    progress.textContent = 'waits';
    const end = (text, kind) => {
      source.close();
      button.disabled = false;
      progress.className = kind || '';
      progress.textContent = text;
    };
    source.addEventListener('progress', (e) => {
      progress.textContent = JSON.parse(e.data);
    });
    source.addEventListener('failed', (e) => end(JSON.parse(e.data), 'error'));
    source.addEventListener('result', (e) => {
      end('');
      done(JSON.parse(e.data));
    });
    source.onerror = () => {
      if (source.readyState !== EventSource.CLOSED) progress.textContent = 'The connection is lost. Reconnecting …';
      else load(location.href).then(() => end('The server does not take the request: it computes too much, or shuts down. Try again later.', 'error'), (fault) => {
        end('The computation was interrupted. Try again.', 'error');
        report(fault);
      });
    };
    return end;
  };

  // The page of all pictures.
  const addPictures = () => {
    const watch = find('watch');
    const place = find('pictures');
    const form = find('fit-form');
    let pictures = null;
    let fitted = false;
    let shown = watch.dataset.version;
    let latest = shown;
    const draw = async (data) => {
      await echartsLoaded();
      if (pictures) pictures.close();
      for (const id of ['controls', 'sections', 'pictures']) find(id).replaceChildren();
      if (data.summary.length > 0) {
        place.append(make('dl', {id: 'facts'}, ...data.summary.map((l) => make('div', {}, make('dt', {}, l.name), make('dd', {}, l.text)))));
      }
      if (data.notes.length > 0) place.append(make('ul', {class: 'notes'}, ...data.notes.map((n) => make('li', {}, n))));
      if (data.trials.length === 0) {
        place.append(make('p', {class: 'remark'}, 'There are no trials yet.'));
        pictures = null;
        return;
      }
      pictures = globalThis.boPictures(data, globalThis.boTheme, {main: place, nav: find('sections'), open: openTrial});
      pictures.addControls();
      pictures.addHistory();
      if (pictures.names.length > 1) pictures.addFront();
      pictures.addModels();
      pictures.addRecords();
      pictures.renderAll();
    };
    const records = async () => {
      try {
        shown = latest;
        find('changed').hidden = true;
        await draw(await (await load(watch.dataset.records)).json());
      } catch (fault) {
        report(fault);
      }
    };
    const fit = () => {
      const query = new URLSearchParams(new FormData(form));
      if (query.getAll('map').length === 1) {
        find('progress').className = 'error';
        find('progress').textContent = 'Maps need at least two parameters.';
        return;
      }
      shown = latest;
      find('changed').hidden = true;
      job(watch.dataset.models + '?' + query, find('progress'), find('fit'), (data) => {
        fitted = true;
        draw(data).catch(report);
      });
    };
    if (form) {
      form.addEventListener('submit', (e) => {
        e.preventDefault();
        fit();
      });
      form.addEventListener('change', () => {
        const boxes = [...form.querySelectorAll('[name=map]')];
        const full = boxes.filter((b) => b.checked).length >= 8;
        for (const b of boxes) b.disabled = full && !b.checked;
      });
    }
    find('update').addEventListener('click', () => (fitted ? fit() : records()));
    if (form && watch.dataset.ready) fit();
    else records();
    follow(watch.dataset.events, (version) => {
      latest = version;
      find('changed').hidden = version === shown;
    });
  };

  // The page of a trial.
  const addTrial = () => {
    const form = find('why-form');
    if (form) {
      const explain = () => job(form.dataset.why, find('progress'), find('why'), (reasons) => {
        find('reasons').replaceChildren(...reasons.map((r) => make('li', {}, r)));
        find('why').hidden = true;
      });
      form.addEventListener('submit', (e) => {
        e.preventDefault();
        explain();
      });
      if (form.dataset.ready) explain();
    }
    const curve = find('curve');
    if (!curve) return;
    echartsLoaded().then(() => {
      const pictures = globalThis.boPictures(JSON.parse(curve.textContent), globalThis.boTheme, {main: find('pictures')});
      pictures.addControls(false);
      pictures.addCurve();
      pictures.renderAll();
    }).catch(report);
  };

  showTimes();
  setInterval(showTimes, 10000);
  addForms();
  if (body.dataset.page === 'study') addHistory();
  if (body.dataset.page === 'pictures') addPictures();
  if (body.dataset.page === 'trial') addTrial();
  const live = document.querySelector('[data-live][data-events]');
  if (live) follow(live.dataset.events, (version) => document.querySelector('[data-live][data-events]').dataset.version !== version && refresh());
})();
