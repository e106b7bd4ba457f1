// The page of a report: sections with pictures, and the table of trials.
'use strict';

(() => {
  const parse = (id) => JSON.parse(document.getElementById(id).textContent);
  const report = parse('data');
  const charts = globalThis.boCharts;
  const page = globalThis.boPictures(report, parse('theme'), {main: document.getElementById('main'), nav: document.getElementById('sections')});
  const {state, pictures, updates, names, make, select, section, renderAll} = page;

  // addTrials adds the table of trials with its filter. A click on a head sorts.
  const addTrials = () => {
    const others = [...new Set(report.trials.flatMap((t) => Object.keys(t.numbers || {})))];
    const columns = [
      ['trial', (t) => t.id], ['state', (t) => (t.feasible === false ? 'infeasible' : t.state)], ...names.map((n, i) => [n, (t) => t.values[i]]),
      ...others.map((n) => [n, (t) => (t.numbers || {})[n]]), ...report.axes.map((a, i) => [a.name, (t) => t.params[i]]),
      ['seconds', (t) => t.seconds || null], ['source', (t) => t.source], ['message', (t) => t.note || ''],
    ].filter(([name, f]) => name !== 'message' || report.trials.some((t) => f(t)));
    const view = {text: '', state: '', column: 0, down: false, all: false};
    const body = make('tbody', {});
    const count = make('p', {class: 'remark', 'aria-live': 'polite'});
    const more = make('button', {type: 'button'}, 'Show all');
    const recommended = names.length === 1 && report.models.length === 1 ? report.models[0].incumbent.trial : report.best;
    const told = report.best ? `The bold trial, ${report.best}, is the best.` + (recommended === report.best ? '' : ` Trial ${recommended} is recommended${report.study.require ? '' : ': its prediction is the best'}.`) : report.trials.some((t) => t.front) ? 'The bold trials are the Pareto front.' : '';
    const show = (v) => (v === null || v === undefined || v === '' ? '' : charts.text(v));
    const compare = (a, b) => (typeof a === 'number' && typeof b === 'number' ? a - b : String(a).localeCompare(String(b)));
    const empty = (v) => v === null || v === undefined || v === '';
    const fill = () => {
      const wanted = view.text.toLowerCase();
      const [, value] = columns[view.column];
      const rows = report.trials.filter((t) => (state.failed || t.state === 'complete' || t.state === 'pending') && (!view.state || columns[1][1](t) === view.state) && (!wanted || columns.some(([, f]) => show(f(t)).toLowerCase().includes(wanted))));
      rows.sort((a, b) => (empty(value(a)) - empty(value(b))) || (view.down ? -1 : 1) * compare(value(a), value(b)) || a.id - b.id);
      const shown = view.all ? rows : rows.slice(0, 100);
      body.replaceChildren(...shown.map((t) => make('tr', t.id === report.best || t.front ? {class: 'best'} : {}, ...columns.map(([name, f]) => {
        const v = f(t);
        return make('td', {class: name === 'message' ? 'note' : typeof v === 'number' ? 'number' : ''}, show(v));
      }))));
      count.textContent = `${rows.length} of ${report.trials.length} trials` + (shown.length < rows.length ? `, the first ${shown.length} are shown.` : '.');
      more.hidden = shown.length === rows.length;
      more.textContent = `Show all ${rows.length}`;
    };
    more.addEventListener('click', () => {
      view.all = true;
      fill();
    });
    const heads = columns.map(([name], i) => {
      const button = make('button', {type: 'button'}, name);
      const head = make('th', {scope: 'col', 'aria-sort': i === 0 ? 'ascending' : 'none'}, button);
      button.addEventListener('click', () => {
        view.down = view.column === i && !view.down;
        view.column = i;
        heads.forEach((h) => h.setAttribute('aria-sort', 'none'));
        head.setAttribute('aria-sort', view.down ? 'descending' : 'ascending');
        fill();
      });
      return head;
    });
    const filter = make('input', {type: 'search', id: 'trial-filter', placeholder: 'text or number'});
    filter.addEventListener('input', () => {
      view.text = filter.value;
      fill();
    });
    const states = [...new Set(report.trials.map(columns[1][1]))];
    const choices = make('div', {class: 'choices'}, make('label', {for: 'trial-filter'}, 'Filter', filter), select('trial-state', 'State', [['', 'all'], ...states.map((x) => [x, x])], (v) => {
      view.state = v;
      fill();
    }));
    updates.push(fill);
    section('trials', 'Trials', ...(told ? [make('p', {class: 'remark'}, told)] : []), choices, count, make('div', {class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Table of trials'}, make('table', {id: 'trial-table'}, make('caption', {class: 'skip'}, 'Trials'), make('thead', {}, make('tr', {}, ...heads)), body)), more);
  };

  const build = () => {
    document.getElementById('sections').append(make('a', {href: '#summary'}, 'Summary'));
    page.addControls();
    if (report.trials.length > 0) page.addHistory();
    if (names.length > 1 && report.trials.length > 0) page.addFront();
    page.addModels();
    page.addRecords();
    if (report.trials.length > 0) addTrials();
    renderAll();
  };

  const print = (begins) => {
    state.printing = begins;
    renderAll();
    for (const p of pictures) {
      p.box.style.height = begins ? `${p.picture.height || 330}px` : p.picture.height ? p.picture.height + 'px' : p.height || '';
      p.chart.resize(begins ? {width: 690, height: p.picture.height || 330} : {width: 'auto', height: 'auto'});
      p.chart.getZr().flush(); // no frame is drawn before the page is printed
    }
  };

  // An inline frame has the address of its page as the base of links, so that a link to a section would open
  // the page in the frame. Its links scroll instead.
  if (document.baseURI.split('#')[0] !== location.href.split('#')[0]) {
    document.addEventListener('click', (e) => {
      const link = e.target.closest('a[href^="#"]');
      const target = link && document.getElementById(link.getAttribute('href').slice(1));
      if (!target) return;
      e.preventDefault();
      target.scrollIntoView();
      target.tabIndex = -1;
      target.focus({preventScroll: true});
    });
  }

  build();
  addEventListener('beforeprint', () => print(true));
  addEventListener('afterprint', () => print(false));
})();
