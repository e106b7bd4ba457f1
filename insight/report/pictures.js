// The pictures of a page: boPictures returns functions that add sections with pictures of a report, and
// their settings. Places are {main, nav, open}: the elements for the sections and for links to them, and a
// function that a click on a trial calls with its number.
'use strict';

globalThis.boPictures = (report, themes, {main, nav, open}) => {
  const charts = globalThis.boCharts;
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const phone = matchMedia('(max-width: 40rem)');

  // The settings of all pictures. Print has the light theme and wide pictures.
  const state = {objective: 0, failed: true, log: false, printing: false};
  const settings = () => ({
    ...state, theme: dark.matches && !state.printing ? themes.dark : themes.light, sequential: themes.sequential, dark: dark.matches && !state.printing, narrow: phone.matches && !state.printing,
  });

  // make returns an element with attributes and children.
  const make = (name, attributes, ...children) => {
    const e = document.createElement(name);
    for (const [key, value] of Object.entries(attributes || {})) {
      if (key in e && typeof value !== 'string') e[key] = value;
      else e.setAttribute(key, value);
    }
    e.append(...children);
    return e;
  };

  const select = (id, label, options, change) => {
    const s = make('select', {id}, ...options.map(([value, text]) => make('option', {value: String(value)}, text)));
    s.addEventListener('change', () => change(s.value));
    return make('label', {for: id}, label, s);
  };

  const checkbox = (id, label, checked, change) => {
    const box = make('input', {type: 'checkbox', id, checked});
    box.addEventListener('change', () => change(box.checked));
    return make('label', {for: id}, box, label);
  };

  const spoken = make('p', {class: 'skip', 'aria-live': 'polite'});

  const pictures = [];

  // table returns a table of cells. Cells that are numbers stand right.
  const table = (columns, rows, caption) => {
    const body = make('tbody', {}, ...rows.map((r) => make('tr', {}, ...r.map((c) => make('td', /^-?[\d.]/.test(String(c)) ? {class: 'number'} : {}, String(c))))));
    const t = make('table', {}, make('thead', {}, make('tr', {}, ...columns.map((c) => make('th', {scope: 'col'}, c)))), body);
    t.prepend(make('caption', {class: 'skip'}, caption));
    return t;
  };

  const mostAxes = 10; // parameters in parallel coordinates, unless more are chosen
  const maxRows = 3000; // of the table behind a picture

  // Picture is a chart with its description, its choices and the table of its data.
  class Picture {
    constructor(id, draw, choices, controls) {
      this.id = id;
      this.draw = draw;
      this.choices = choices || {};
      this.at = -1; // point that the arrow keys visit
      this.box = make('div', {class: 'chart', id, role: 'img', tabindex: '0'});
      this.caption = make('figcaption', {});
      this.details = make('details', {}, make('summary', {}, 'Data of the picture'));
      this.holder = make('div', {class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Data of the picture'});
      this.details.append(this.holder);
      this.details.addEventListener('toggle', () => this.fill());
      this.box.addEventListener('keydown', (e) => this.key(e));
      this.figure = make('figure', {}, ...(controls ? [make('div', {class: 'choices'}, ...controls(this))] : []), this.box, this.caption, this.details);
      pictures.push(this);
    }

    choose(key, value) {
      this.choices[key] = value;
      this.render();
    }

    render() {
      this.picture = this.draw(report, {...settings(), ...this.choices, width: state.printing ? 690 : this.box.clientWidth || 800});
      this.box.style.height = this.picture.height ? this.picture.height + 'px' : this.height || '';
      if (!this.chart) {
        this.chart = echarts.init(this.box, null, {devicePixelRatio: Math.max(2, devicePixelRatio || 1)});
        this.observer = new ResizeObserver(() => state.printing || this.resize());
        this.observer.observe(this.box);
        this.chart.on('legendselectchanged', (e) => (this.selected = e.selected));
        if (open) this.chart.on('click', (e) => e.data && e.data.trial && open(e.data.trial.id));
      }
      else this.fit();
      this.drawn = this.box.clientWidth;
      const {option} = this.picture;
      if (this.selected) option.legend = {...option.legend, selected: this.selected};
      this.chart.setOption(option, true);
      this.box.setAttribute('aria-label', this.picture.label + ' The arrow keys visit the points.');
      this.caption.textContent = this.picture.label;
      this.at = -1;
      this.fill();
    }

    // resize draws the picture again if its width, on which its labels depend, changes.
    resize() {
      if (this.box.clientWidth === this.drawn) this.fit();
      else this.render();
    }

    // fit gives the chart the size of its box. ECharts draws everything again, even at the same size.
    fit() {
      const [width, height] = [this.box.clientWidth, this.box.clientHeight];
      if (!state.printing && (this.chart.getWidth() !== width || this.chart.getHeight() !== height)) this.chart.resize();
    }

    // fill writes the table if it is open.
    fill() {
      this.holder.replaceChildren();
      if (!this.details.open) return;
      const rows = this.picture.rows();
      this.holder.append(table(this.picture.columns, rows.slice(0, maxRows), this.picture.label));
      if (rows.length > maxRows) this.holder.append(make('p', {class: 'remark'}, `The first ${maxRows} of ${rows.length} rows.`));
    }

    // key shows the tooltip of the next or the previous point.
    key(e) {
      const step = {ArrowRight: 1, ArrowLeft: -1}[e.key];
      if (e.key === 'Escape') this.chart.dispatchAction({type: 'hideTip'});
      if (!step) return;
      e.preventDefault();
      const series = this.picture.option.series[this.picture.series];
      const n = series && series.data ? series.data.length : 0;
      if (n === 0) return;
      this.at = (this.at + step + n) % n;
      this.chart.dispatchAction({type: 'showTip', seriesIndex: this.picture.series, dataIndex: this.at});
      const tip = this.box.querySelector('.tip');
      if (tip) spoken.textContent = [...tip.children].map((c) => [...c.childNodes].map((n) => n.textContent).join(' ')).join(', ');
    }
  }

  const renderAll = () => {
    const box = document.getElementById('log');
    const possible = charts.canLog(report, state.objective);
    box.disabled = !possible;
    box.parentElement.title = possible ? '' : 'The values are not all positive.';
    if (!possible) state.log = box.checked = false;
    pictures.forEach((p) => p.render());
    updates.forEach((f) => f());
  };
  const updates = [];

  // section adds a section to the page and to its contents.
  const section = (id, title, ...children) => {
    const head = make('h2', {id: id + '-title'}, title);
    main.append(make('section', {id, 'aria-labelledby': id + '-title'}, head, ...children));
    if (nav) nav.append(make('a', {href: '#' + id}, title));
  };

  const remark = (text) => make('p', {class: 'remark'}, text);
  const names = report.study.objectives.map((o) => o.name);
  const parameters = report.axes.map((a, i) => [i, a.name]);
  const centre = charts.centreOf(report.study.objectives[0]);
  const model = () => report.models[state.objective];
  // firstOf returns the most important parameter that is active along slices.
  const firstOf = (slices) => {
    const active = (i) => slices.some((x) => x.axis === i && x.x && x.x.length > 0);
    const ordered = report.models[0].importance.map((e) => report.axes.findIndex((a) => a.name === e.parameter));
    return [...ordered, ...parameters.map(([i]) => i)].find(active) || 0;
  };

  // addControls adds the settings, of failed trials only if there may be some.
  const addControls = (withFailed = true) => {
    const change = (key) => (value) => {
      state[key] = value;
      renderAll();
    };
    const box = document.getElementById('controls');
    box.addEventListener('submit', (e) => e.preventDefault());
    if (names.length > 1) box.append(select('objective', 'Objective', names.map((n, i) => [i, n]), (v) => change('objective')(Number(v))));
    if (withFailed) box.append(checkbox('failed', 'Failed and stopped trials', true, change('failed')));
    box.append(checkbox('log', 'Logarithmic values', false, change('log')));
  };

  const addHistory = () => {
    section('history', 'History', new Picture('history-chart', charts.history).figure);
  };

  // ofMoved is a remark on slices or maps along which the other parameters change.
  const ofMoved = (all) => (all.some((x) => x.moved) ? ' With the others unchanged, the constraints leave no other value of some parameters. The others then change in proportion, so the components of a mixture keep their ratios.' : '');

  const addSlices = () => {
    const first = firstOf(report.models[0].slices);
    const picture = new Picture('slice-chart', charts.slice, {parameter: first, through: 'incumbent'}, (p) => {
      const choice = select('slice-parameter', 'Parameter', parameters, (v) => p.choose('parameter', Number(v)));
      choice.lastChild.value = String(first);
      const points = [['incumbent', 'through the ' + centre], ...(report.models[0].next_slices ? [['next', 'through the next point']] : []), ['average', 'averaged over the others']];
      return [choice, select('slice-through', 'Others', points, (v) => p.choose('through', v))];
    });
    section('slices', 'Prediction along a parameter', remark('The other parameters stay at a point, or the prediction is averaged over them. The bands hold the latent objective with 50 % and 95 % probability. Trials differ in the other parameters: the fainter, the further away.' + ofMoved(report.models.flatMap((m) => m.slices))), picture.figure);
  };

  const addMaps = () => {
    if (report.models[0].maps.length === 0) return;
    const used = [...new Set(report.models[0].maps.flatMap((m) => [m.x, m.y]))];
    const options = used.map((i) => [i, report.axes[i].name]);
    // The first map of which a fifth is usable, or the one with the most usable points.
    const usable = (m) => (m.mean.flat().filter((v) => v !== null).length - (m.infeasible || []).filter(([j, i]) => m.mean[j][i] !== null).length) / m.mean.flat().length;
    const parts = report.models[0].maps.map(usable);
    const begin = report.models[0].maps[parts.findIndex((v) => v >= Math.min(0.2, Math.max(...parts)))];
    const picture = new Picture('map-chart', charts.map, {x: begin.x, y: begin.y, layer: 'mean'}, (p) => {
      const present = Object.entries(charts.layers).filter(([key]) => report.models[0].maps[0][key]);
      const axis = (id, label, key, other) => {
        const choice = select(id, label, options, (v) => {
          if (Number(v) === p.choices[other]) { // exchange the axes
            p.choices[other] = p.choices[key];
            document.getElementById('map-' + other).value = String(p.choices[other]);
          }
          p.choose(key, Number(v));
        });
        choice.lastChild.value = String(p.choices[key]);
        return choice;
      };
      return [axis('map-x', 'Horizontal', 'x', 'y'), axis('map-y', 'vertical', 'y', 'x'), select('map-layer', 'colour', present, (v) => p.choose('layer', v))];
    });
    section('maps', 'Map of two parameters', remark(`The other parameters stay at the ${centre}. Grey areas violate a constraint on the parameters.${report.models.some((m) => m.maps.some((x) => x.mean.some((r) => r.includes(null)))) ? ' In empty areas a parameter is inactive.' : ''}${ofMoved(report.models.flatMap((m) => m.maps))}`), picture.figure);
  };

  const addImportance = () => {
    const picture = new Picture('importance-chart', charts.importance);
    section('importance', 'Importance of the parameters', remark('Sobol indices of the prediction over the whole search space: the part of its variance that a parameter explains alone, and with its interactions. Bars: the posterior mean. Intervals: draws of the posterior, which also vary where the mean is flat.' + (report.study.constraints ? ' Points that violate a constraint on numbers are moved: the numbers change in proportion. Where that is not possible, the points count unmoved.' : '')), picture.figure);
  };

  const addCalibration = () => {
    const words = make('div', {});
    updates.push(() => {
      const c = model().calibration;
      words.replaceChildren(make('p', {class: 'verdict ' + c.verdict.replace(' ', '-')}, c.summary + (c.verdict === 'too few' ? '' : ` The verdict tests ${c.tested}.`)), ...c.findings.map((f) => make('p', {}, `${f.text}. Remedy: ${f.remedy}.`)));
      if (c.coverage.length === 0) return;
      words.append(table(['interval', 'values inside', 'number'], c.coverage.map((x) => [Math.round(100 * x.nominal) + ' %', Math.round(100 * x.observed) + ' %', x.inside]), 'Coverage of the prediction intervals'), remark(`Coverage of the prediction intervals of ${c.method === 'leave-one-out' ? 'leave-one-out: each trial is predicted from all others' : c.method + ': each fifth of the trials is predicted from the others'}.` + (c.verdict === 'too few' ? '' : ' The numbers of the verdict can differ.')));
    });
    section('calibration', 'Calibration', words, make('h3', {}, 'Predictions of each trial from the others'), new Picture('calibration-chart', charts.calibration).figure, make('h3', {}, 'Probability plot'), new Picture('probability-chart', charts.probability).figure);
  };

  const addParallel = () => {
    const importance = report.models.length > 0 ? report.models[0].importance.map((e) => report.axes.findIndex((a) => a.name === e.parameter)) : parameters.map(([i]) => i);
    const shown = new Set(importance.slice(0, mostAxes));
    const inOrder = () => [...shown].sort((a, b) => a - b);
    const picture = new Picture('parallel-chart', charts.parallel, {shown: inOrder()}, (p) => {
      if (parameters.length <= mostAxes) return [];
      const summary = make('summary', {}, '');
      const count = () => (summary.textContent = `Parameters: ${shown.size} of ${parameters.length}`);
      count();
      const boxes = parameters.map(([i, name]) => checkbox('parallel-' + i, name, shown.has(i), (on) => {
        if (on) shown.add(i);
        else shown.delete(i);
        count();
        p.choose('shown', inOrder());
      }));
      return [make('details', {class: 'many'}, summary, make('div', {class: 'choices', role: 'group', 'aria-label': 'Parameters of the picture'}, ...boxes))];
    });
    const chosen = parameters.length > mostAxes ? ` The ${mostAxes} most important parameters are shown; others can be chosen.` : '';
    const thick = names.length > 1 ? 'thick lines are the Pareto front' : report.trials.some((t) => t.id === report.best && t.feasible !== false) ? `the thick line is the best, trial ${report.best}` : report.trials.some((t) => t.feasible === false) ? 'no trial is feasible' : 'no trial is complete';
    const others = [[(t) => t.feasible === false, 'Dotted lines are infeasible trials.'], [(t) => t.state === 'failed' || t.state === 'lost', 'Dashed lines are failed trials.']].filter(([f]) => report.trials.some(f)).map(([, words]) => ' ' + words).join('');
    section('parallel', 'Parallel coordinates', remark(`Each line is a trial; ${thick}.${others} Drag along an axis to select trials, and click the axis to select all.` + chosen), picture.figure);
  };

  const addFront = () => {
    const axis = (p, id, label, key, other) => {
      const choice = select(id, label, names.map((n, i) => [i, n]), (v) => {
        if (Number(v) === p.choices[other]) {
          p.choices[other] = p.choices[key];
          document.getElementById('front-' + other).value = String(p.choices[other]);
        }
        p.choose(key, Number(v));
      });
      choice.lastChild.value = String(p.choices[key]);
      return choice;
    };
    const picture = new Picture('front-chart', charts.pareto, {x: 0, y: 1}, (p) => [axis(p, 'front-x', 'Horizontal', 'x', 'y'), axis(p, 'front-y', 'vertical', 'y', 'x')]);
    const volume = report.trials.some((t) => t.hypervolume !== undefined) ? [make('h3', {}, 'Hypervolume'), new Picture('hypervolume-chart', charts.hypervolume).figure] : [];
    section('front', 'Pareto front', picture.figure, ...volume);
  };

  const addNext = () => {
    const next = report.next;
    const point = report.axes.map((a, i) => [a.name, charts.text(next.params[i])]).filter((r) => r[1] !== 'inactive');
    const children = [make('p', {}, next.trial ? `Trial ${next.trial} waits to be evaluated.` : 'A worker that asks for a point now gets this one.'), make('div', {class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'The next point'}, table(['parameter', 'value'], point, 'The next point')), make('ul', {}, ...next.reasons.map((r) => make('li', {}, r)))];
    if (report.models.length > 0 && report.models[0].next_slices) {
      const first = firstOf(report.models[0].next_slices);
      const picture = new Picture('next-chart', charts.slice, {parameter: first, through: 'next'}, (p) => {
        const choice = select('next-parameter', 'Parameter', parameters, (v) => p.choose('parameter', Number(v)));
        choice.lastChild.value = String(first);
        return [choice];
      });
      children.push(picture.figure);
    }
    section('next', 'Why the next point', ...children);
  };

  // update draws the pictures of another report of the same study.
  const update = (next) => {
    report = next;
    renderAll();
  };

  // close ends the pictures of a page that shows others.
  const close = () => {
    dark.removeEventListener('change', renderAll);
    phone.removeEventListener('change', renderAll);
    for (const p of pictures) {
      p.observer.disconnect();
      p.chart.dispose();
    }
    spoken.remove();
  };

  // addModels adds the sections of the surrogate models.
  const addModels = () => {
    if (report.next) addNext();
    if (report.models.length === 0) return;
    addSlices();
    addMaps();
    addImportance();
    addCalibration();
  };

  // addCurve adds the picture of the curves without a heading.
  const addCurve = () => main.append(new Picture('curves-chart', charts.curves).figure);

  // addRecords adds the sections that need no surrogate model.
  const addRecords = () => {
    if (report.trials.length > 0 && report.axes.length > 0) addParallel();
    if (report.timeline.lanes.length > 0) section('timeline', 'Timeline of the workers', new Picture('timeline-chart', charts.timeline).figure);
    if (report.curves.length > 0) section('curves', 'Learning curves', remark('Lines are coloured from the worst to the best last value.' + (report.best ? ` The thick line is the best trial, ${report.best}.` : '') + ' Dashed trials were stopped early.'), new Picture('curves-chart', charts.curves).figure);
  };

  document.body.append(spoken);
  dark.addEventListener('change', renderAll);
  phone.addEventListener('change', renderAll);
  return {state, pictures, updates, names, make, select, section, table, addControls, addHistory, addFront, addModels, addRecords, addCurve, renderAll, update, close};
};
