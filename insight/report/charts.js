// Pictures of a study: functions from the data of a report and the settings of the page to a picture.
//
// A picture is {option, label, columns, rows, series}: the option of ECharts, a description for
// screen readers, the table of its data, and the index of the series whose points the arrow keys visit.
// Settings are {theme, sequential, narrow, objective, failed, log} and choices of one picture.
'use strict';

globalThis.boCharts = (() => {
  const isNumber = (x) => typeof x === 'number' && Number.isFinite(x);

  // brief formats x with at most some significant digits.
  const brief = (x, digits = 5) => {
    if (!isNumber(x)) return '–';
    const size = Math.abs(x);
    if (size !== 0 && (size < 1e-4 || size >= 1e7)) return x.toExponential(digits - 1).replace(/(\.\d*?)0+e/, '$1e').replace('.e', 'e').replace('e+', 'e');
    return String(Number(x.toPrecision(digits)));
  };

  // number formats x with the digits that the report has.
  const number = (x) => (Number.isInteger(x) && Math.abs(x) < 1e15 ? String(x) : brief(x, 16));

  // scaleOf returns how an axis between two ends labels its values, so that they differ: {format, suffix}. The
  // labels of a short axis far from zero are differences from a round number, and suffix, which follows
  // the name of the axis, is this number.
  const scaleOf = (low, high) => {
    const [size, range] = [Math.max(Math.abs(low), Math.abs(high)), high - low];
    if (!(range > 0) || size === 0) return {suffix: '', format: (v) => brief(v)};
    if (size < 2e5 * range) return {suffix: '', format: (v) => brief(v, Math.max(5, 3 + Math.ceil(Math.log10(size / range))))};
    const unit = 10 ** (Math.ceil(Math.log10(range)) + 1);
    const near = Math.round(low / unit) * unit;
    const base = Number((Math.abs(near - low) > range ? Math.floor(low / unit) * unit : near).toPrecision(15));
    const grain = 10 ** (Math.floor(Math.log10(range)) - 5);
    return {suffix: base < 0 ? ' + ' + brief(-base, 15) : ' − ' + brief(base, 15), format: (v) => brief(Math.round((v - base) / grain) * grain)};
  };

  // scaleOfValues returns the labels of an axis of values.
  const scaleOfValues = (values) => {
    const finite = values.filter(isNumber);
    return finite.length ? scaleOf(Math.min(...finite), Math.max(...finite)) : scaleOf(0, 0);
  };

  // labelsOf cuts names to a number of characters: the end, the middle, or the beginning that all share,
  // whichever leaves most of them different.
  const labelsOf = (names, most) => {
    const shared = names.length < 2 ? 0 : [...names[0]].findIndex((c, i) => names.some((n) => n[i] !== c));
    const end = (n) => (n.length <= most ? n : n.slice(0, most - 1) + '…');
    const half = Math.max(1, Math.floor((most - 1) / 2));
    const cuts = [end, (n) => (n.length <= most ? n : n.slice(0, half) + '…' + n.slice(-half)), (n) => end('…' + n.slice(Math.max(0, shared)))];
    const all = cuts.map((cut) => names.map(cut));
    const different = all.map((list) => new Set(list).size);
    return all[different.indexOf(Math.max(...different))];
  };

  // namesOf returns the labels of an axis of names on a length in pixels, and their angle: every second,
  // third, … name if there is no room for all.
  const namesOf = (ticks, length, upright) => {
    const names = ticks.map(String);
    const longest = Math.max(...names.map((n) => n.length));
    const each = length / names.length;
    const every = (distance) => Math.max(0, Math.ceil(distance / each) - 1);
    if (upright || 7 * longest + 10 <= each) {
      const labels = labelsOf(names, upright || longest);
      return {rotate: 0, room: 0, interval: upright ? every(16) : 0, formatter: (v, i) => labels[i]};
    }
    const labels = labelsOf(names, 13);
    const cut = Math.max(...labels.map((n) => n.length));
    return {rotate: 40, room: 12 + Math.round(4.2 * cut), interval: every(26), formatter: (v, i) => labels[i]};
  };

  const text = (v) => (v === null || v === undefined ? 'inactive' : isNumber(v) ? number(v) : String(v));

  // tip returns the content of a tooltip: a title and rows of name and value. It has no inline style, which
  // the policy of the page forbids.
  const tip = (title, rows) => {
    const box = document.createElement('div');
    box.className = 'tip';
    const head = document.createElement('b');
    head.textContent = title;
    box.append(head);
    for (const [name, value] of rows) {
      const row = document.createElement('div');
      row.className = 'row';
      const left = document.createElement('span');
      left.textContent = name;
      const right = document.createElement('span');
      right.textContent = value;
      row.append(left, right);
      box.append(row);
    }
    return box;
  };

  const mostRows = 12; // parameters in a tooltip

  const goalOf = (report, s) => report.study.objectives[s.objective];

  // centreOf names the trial that slices and maps pass through.
  const centreOf = (goal) => (goal.noise_free ? 'best trial' : 'recommended trial');

  const valueOf = (trial, s) => trial.values[s.objective];

  // trialTip describes a trial.
  const trialTip = (report, trial) => {
    const rows = [['state', trial.feasible === false ? 'infeasible' : trial.state]];
    report.study.objectives.forEach((o, i) => {
      if (isNumber(trial.values[i])) rows.push([o.name, number(trial.values[i])]);
    });
    for (const [name, value] of Object.entries(trial.numbers || {})) rows.push([name, number(value)]);
    const active = report.axes.map((a, i) => [a.name, trial.params[i]]).filter((r) => r[1] !== null);
    rows.push(...active.slice(0, mostRows).map(([name, v]) => [name, text(v)]));
    if (active.length > mostRows) rows.push(['other parameters', String(active.length - mostRows)]);
    return tip('trial ' + trial.id, rows);
  };

  // base returns the parts that all options share.
  const base = (s) => ({
    animation: false,
    backgroundColor: 'transparent',
    textStyle: {color: s.theme.text, fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", Arial, sans-serif', fontSize: 13},
    grid: {left: 12, right: 24, top: s.narrow || s.printing ? 64 : 44, bottom: 12, outerBoundsMode: 'same', outerBoundsContain: 'all'},
    legend: {top: 0, left: 0, itemGap: 14, itemWidth: 18, itemHeight: 10, textStyle: {color: s.theme.text, fontSize: 13}, inactiveColor: s.theme.muted},
    tooltip: {
      trigger: 'item', confine: true, transitionDuration: 0, backgroundColor: s.theme.background, borderColor: s.theme.muted,
      textStyle: {color: s.theme.text, fontSize: 13},
    },
  });

  // blank is a picture of a sentence.
  const blank = (s, text) => ({option: {...base(s), title: {text, left: 'center', top: 'middle', textStyle: {color: s.theme.muted, fontSize: 14, fontWeight: 'normal', width: s.width - 40, overflow: 'break'}}, series: []}, label: text + '.', columns: [], rows: () => [], series: 0});

  const lines = (s) => ({
    nameTextStyle: {color: s.theme.text, fontSize: 13},
    axisLine: {show: true, onZero: false, lineStyle: {color: s.theme.muted}},
    axisTick: {show: true, lineStyle: {color: s.theme.muted}},
    axisLabel: {color: s.theme.muted, fontSize: 12, hideOverlap: true, formatter: (v) => (isNumber(v) ? brief(v) : v)},
    splitLine: {show: true, lineStyle: {color: s.theme.grid}},
    minorSplitLine: {show: false},
  });

  // ticksOf returns the labelled values of a linear axis of a parameter: multiples of a round step, 4 to 9 of
  // them, with both ends if possible.
  const ticksOf = (a) => {
    const [low, high] = [a.min || 0, a.max || 0];
    const range = high - low;
    if (!(range > 0)) return [low];
    const even = (x) => Math.abs(x - Math.round(x)) < 1e-9;
    const size = 10 ** Math.floor(Math.log10(range));
    const steps = [0.1, 0.2, 0.25, 0.5, 1, 2].map((f) => f * size).filter((x) => range / x <= 8 && range / x >= 2 && (a.kind !== 'int' || even(x)));
    const step = steps.find((x) => even(low / x) && even(high / x)) || steps[0] || 1;
    const first = Math.ceil(low / step - 1e-9);
    const last = Math.floor(high / step + 1e-9);
    return Array.from({length: last - first + 1}, (_, k) => Number(((first + k) * step).toPrecision(15)));
  };

  // decadesOf returns the labelled values of a logarithmic axis of a parameter: powers of ten, or on a
  // short axis 1, 2 and 5 times them.
  const decadesOf = (a) => {
    const length = Math.log10(a.max / a.min);
    if (length < 0.8) return ticksOf(a);
    const [step, factors] = length < 2.5 ? [1, [1, 2, 5]] : [Math.ceil(length / 7), [1]];
    const values = [];
    for (let k = Math.floor(Math.log10(a.min)) - 1; k <= Math.log10(a.max) + 1; k++) {
      if (k % step === 0) values.push(...factors.map((f) => Number(`${f}e${k}`)));
    }
    return values.filter((v) => v >= a.min * (1 - 1e-9) && v <= a.max * (1 + 1e-9));
  };

  // labelled adds the ticks of a parameter to an axis that has its bounds.
  const labelled = (axis, a) => {
    if (a.ticks) return axis;
    const customValues = a.log ? decadesOf(a) : ticksOf(a);
    const {format, suffix} = a.log && a.max > 6 * a.min ? {format: (v) => brief(v), suffix: ''} : scaleOf(a.min || 0, a.max || 0);
    return {...axis, name: axis.name && axis.name + suffix, axisLabel: {...axis.axisLabel, customValues, formatter: format}, axisTick: {...axis.axisTick, customValues}};
  };

  // parameterAxis returns an axis with the values of a parameter in the user's units, of a length in
  // pixels.
  const parameterAxis = (a, s, length, vertical) => {
    const axis = {...lines(s), name: a.name, nameLocation: 'middle', nameGap: 28, nameRotate: vertical ? 90 : 0};
    if (a.ticks) {
      axis.type = 'category';
      axis.data = a.ticks.map(String);
      axis.splitLine = {show: false};
      const {rotate, room, interval, formatter} = namesOf(a.ticks, length, vertical && 14);
      axis.axisLabel = {...axis.axisLabel, rotate, interval, formatter};
      axis.nameGap += room;
    } else {
      axis.type = a.log ? 'log' : 'value';
      axis.min = a.min || 0;
      axis.max = a.max || 0;
    }
    return labelled(axis, a);
  };

  // place returns a value of a parameter as a coordinate of its axis.
  const place = (a, v) => (a.ticks ? a.ticks.findIndex((t) => t === v) : v);

  // valueAxis returns an axis of an objective, whose labels have a scale.
  const valueAxis = (name, s, vertical, scale) => {
    const axis = {...lines(s), name, type: s.log ? 'log' : 'value', scale: true, nameLocation: 'middle', nameGap: 28, nameRotate: vertical ? 90 : 0};
    return scale && !s.log ? {...axis, name: name + scale.suffix, axisLabel: {...axis.axisLabel, formatter: scale.format}} : axis;
  };

  // scaleOfGoal returns the labels of an axis of the i-th objective.
  const scaleOfGoal = (report, i) => scaleOfValues(report.trials.map((t) => t.values[i]));

  // onAxis reports whether a value has a place on the value axis.
  const onAxis = (v, s) => isNumber(v) && (!s.log || v > 0);

  // canLog reports whether all values of an objective are positive.
  const canLog = (report, objective) => report.trials.every((t) => !isNumber(t.values[objective]) || t.values[objective] > 0);

  const line = (x1, y1, x2, y2, style) => ({type: 'line', shape: {x1, y1, x2, y2}, style});

  // band returns a filled area between two curves. Points are [x, low, high].
  const band = (name, color, points, s, more) => ({
    name, type: 'custom', silent: true, clip: true, z: 1, data: points, itemStyle: {color}, encode: {x: 0, y: [1, 2]},
    renderItem: (params, api) => {
      if (params.dataIndex !== 0 || points.length === 0) return undefined;
      const upper = points.map((p) => api.coord([p[0], p[2]]));
      const lower = points.map((p) => api.coord([p[0], p[1]])).reverse();
      return {type: 'polygon', shape: {points: upper.concat(lower)}, style: {fill: color}};
    },
    ...more,
  });

  // bars returns vertical intervals. Points are [x, low, high].
  const bars = (name, color, width, points, more) => ({
    name, type: 'custom', silent: true, clip: true, z: 1, data: points, itemStyle: {color}, encode: {x: 0, y: [1, 2]},
    renderItem: (params, api) => {
      const [x, low] = api.coord([api.value(0), api.value(1)]);
      const [, high] = api.coord([api.value(0), api.value(2)]);
      return line(x, low, x, high, {stroke: color, lineWidth: width});
    },
    ...more,
  });

  // columns returns bars from the lower end of the axis, which has room below the least value, with the values
  // as labels if all have room. Points are [x, value], and each is the room of a bar in pixels.
  const columns = (name, color, each, points, s) => {
    const texts = points.map((p) => brief(p[1], 4));
    const labels = 7 * Math.max(0, ...texts.map((t) => t.length)) + 8 <= each;
    return {
      name, type: 'custom', silent: true, z: 1, data: points, itemStyle: {color}, encode: {x: 0, y: 1},
      renderItem: (params, api) => {
        const [x, y] = api.coord([api.value(0), api.value(1)]);
        const area = params.coordSys;
        const width = Math.max(1, Math.min(24, 0.7 * each));
        const label = {type: 'text', style: {text: texts[params.dataIndex], x, y: y - 2, align: 'center', verticalAlign: 'bottom', fill: s.theme.text, fontSize: 12}};
        return {type: 'group', children: [{type: 'rect', shape: {x: x - width / 2, y, width, height: Math.max(1, area.y + area.height - y)}, style: {fill: color}}, ...(labels ? [label] : [])]};
      },
    };
  };

  // ends of an axis of columns: room below the least value and, for labels, above the largest.
  const columnEnds = (points) => {
    const values = points.map((p) => p[1]);
    const [low, high] = [Math.min(...values), Math.max(...values)];
    const range = high - low || Math.abs(low) || 1;
    return points.length > 0 ? {min: low - 0.15 * range, max: high + 0.35 * range} : {};
  };

  // across returns horizontal intervals. Points are [y, low, high].
  const across = (name, color, width, points) => ({
    name, type: 'custom', silent: true, clip: true, z: 1, data: points, itemStyle: {color}, encode: {y: 0, x: [1, 2]},
    renderItem: (params, api) => {
      const [low, y] = api.coord([api.value(1), api.value(0)]);
      const [high] = api.coord([api.value(2), api.value(0)]);
      return line(low, y, high, y, {stroke: color, lineWidth: width});
    },
  });

  // rug returns marks at the lower edge for trials without a value. Points are {value: [x], trial}.
  const cross = 'path://M0,0L3,0L6,4L9,0L12,0L8,6L12,12L9,12L6,8L3,12L0,12L4,6Z';
  const rug = (name, color, points, report, more) => ({
    name, type: 'custom', clip: false, z: 4, data: points, itemStyle: {color}, encode: {x: 0, tooltip: 0},
    tooltip: {formatter: (p) => trialTip(report, p.data.trial)},
    renderItem: (params, api) => {
      const area = params.coordSys;
      const x = api.coord([api.value(0), 0])[0];
      const y = area.y + area.height - 7;
      const style = {stroke: color, lineWidth: 2};
      return {type: 'group', children: [
        {type: 'rect', shape: {x: x - 7, y: y - 7, width: 14, height: 14}, style: {fill: 'transparent'}},
        ...(name === 'failed' ? [line(x - 4, y - 4, x + 4, y + 4, style), line(x - 4, y + 4, x + 4, y - 4, style)]
          : [name === 'pending' ? {type: 'circle', shape: {cx: x, cy: y, r: 4}, style: {...style, fill: 'transparent'}} : {type: 'rect', shape: {x: x - 4, y: y - 4, width: 8, height: 8}, style: {fill: color}}]),
      ]};
    },
    ...more,
  });

  // hollow returns the style of a mark that is only an outline: a triangle for infeasible trials, a ring for
  // pending ones.
  const hollow = (s, color, symbol) => ({symbol, itemStyle: {color: s.theme.background, borderColor: color, borderWidth: 2}});
  const triangle = (s) => hollow(s, s.theme.infeasible, 'triangle');

  const marks = (name, color, points, report, more) => ({
    name, type: 'scatter', z: 3, symbolSize: 8, itemStyle: {color}, data: points,
    tooltip: {formatter: (p) => trialTip(report, p.data.trial)}, ...more,
  });

  // kinds splits trials by the role of their marks.
  const kinds = (report, s) => ({
    complete: report.trials.filter((t) => t.state === 'complete' && t.feasible !== false && onAxis(valueOf(t, s), s)),
    infeasible: report.trials.filter((t) => t.state === 'complete' && t.feasible === false && onAxis(valueOf(t, s), s)),
    failed: s.failed ? report.trials.filter((t) => t.state === 'failed' || t.state === 'lost') : [],
    stopped: s.failed ? report.trials.filter((t) => t.state === 'stopped') : [],
    pending: report.trials.filter((t) => t.state === 'pending'),
  });

  const icons = {complete: 'circle', failed: cross, pending: 'circle', stopped: 'rect', infeasible: 'triangle'};
  const plus = 'path://M4,0L6,0L6,4L10,4L10,6L6,6L6,10L4,10L4,6L0,6L0,4L4,4Z';
  // legendOf returns the legend of series with data. Trials have the mark and the colour of their state.
  const legendOf = (s, series) => {
    const inks = {complete: s.theme.evaluation, failed: s.theme.failure, pending: s.theme.pending, stopped: s.theme.stopped, infeasible: s.theme.infeasible};
    const open = (name) => name === 'pending' || name === 'infeasible';
    return {...base(s).legend, data: series.filter((x) => x.name && x.data.length > 0).map(({name}) => (icons[name]
      ? {name, icon: icons[name], itemStyle: {color: open(name) ? s.theme.background : inks[name], borderColor: inks[name], borderWidth: open(name) ? 2 : 0, opacity: 1}} : {name}))};
  };

  // used drops series without data.
  const used = (series) => series.filter((x) => !x.data || x.data.length > 0);

  const trialColumns = (report) => ['trial', 'state', ...report.axes.map((a) => a.name)];
  const trialCells = (t) => [t.id, t.state, ...t.params.map(text)];

  // clipTo returns a function that moves a number into the range of values, extended at both ends by half of its length.
  const clipTo = (values) => {
    const low = Math.min(...values), high = Math.max(...values), reach = (high - low) / 2;
    return (v) => (reach > 0 ? Math.min(Math.max(v, low - reach), high + reach) : v);
  };

  // history is the picture of the values in the order of the trials, with the best so far.
  const history = (report, s) => {
    const goal = goalOf(report, s);
    const k = kinds(report, s);
    const at = (list) => list.map((t) => ({value: [t.id, valueOf(t, s)], trial: t}));
    const single = report.study.objectives.length === 1;
    const best = single ? report.trials.filter((t) => onAxis(t.best, s)).map((t) => ({value: [t.id, t.best], trial: t})) : [];
    const clip = s.log ? (v) => v : clipTo([...k.complete, ...k.infeasible].map((t) => valueOf(t, s)));
    const expected = single ? report.trials.filter((t) => t.predicted && t.predicted.every((v) => onAxis(v, s))).map((t) => [t.id, clip(t.predicted[1]), clip(t.predicted[2])]) : [];
    const deviation = (t) => (t.numbers || {})[goal.standard_error];
    const errors = [...k.complete, ...k.infeasible].filter((t) => isNumber(deviation(t))).map((t) => [t.id, ...[-1, 1].map((sign) => valueOf(t, s) + sign * deviation(t))]).filter((p) => p.every((v) => onAxis(v, s)));
    const series = used([
      marks('complete', s.theme.evaluation, at(k.complete), report),
      {name: 'best so far', type: 'line', step: 'end', symbol: 'none', z: 2, lineStyle: {width: 3, color: s.theme.incumbent}, itemStyle: {color: s.theme.incumbent}, data: best, silent: true},
      bars('predicted before, 95 %', s.theme.band50, 2, expected),
      bars('standard error', s.theme.evaluation, 1, errors),
      marks('infeasible', s.theme.infeasible, at(k.infeasible), report, {...triangle(s), z: 2}),
      rug('failed', s.theme.failure, k.failed.map((t) => ({value: [t.id], trial: t})), report),
      rug('stopped', s.theme.stopped, k.stopped.map((t) => ({value: [t.id], trial: t})), report),
      rug('pending', s.theme.pending, k.pending.map((t) => ({value: [t.id], trial: t})), report),
    ]);
    const last = best.length > 0 ? best[best.length - 1].value[1] : null;
    return {
      option: {...base(s), legend: legendOf(s, series), xAxis: {...lines(s), type: 'value', name: 'trial', nameLocation: 'middle', nameGap: 28, minInterval: 1, splitLine: {show: false}, max: (v) => v.max + 1}, yAxis: valueAxis(goal.name, s, true, scaleOfGoal(report, s.objective)), series},
      label: `History of ${goal.name} over ${report.trials.length} trials` + (isNumber(last) ? `; the best value is ${number(last)}.` : '.'),
      columns: ['trial', 'state', goal.name, ...(single ? ['best so far'] : [])],
      rows: () => report.trials.filter((t) => s.failed || t.state === 'complete').map((t) => [t.id, t.state, number(valueOf(t, s)), ...(single ? [number(t.best)] : [])]),
      series: 0,
    };
  };

  // runs returns the ends of runs of consecutive indices.
  const runs = (indices) => {
    const out = [];
    for (const i of indices || []) {
      const last = out[out.length - 1];
      if (last && last[1] === i - 1) last[1] = i;
      else out.push([i, i]);
    }
    return out;
  };

  // sliceSeries returns the series of the prediction along one parameter.
  const sliceSeries = (report, s, slice, axis) => {
    const floor = s.log ? Math.min(...slice.mean.filter((v) => v > 0), ...kinds(report, s).complete.map((t) => valueOf(t, s))) / 3 : -Infinity;
    const clamp = (v) => Math.max(v, floor);
    const x = slice.x.map((v) => place(axis, v));
    const interval = (low, high) => x.map((v, i) => [v, clamp(low[i]), clamp(high[i])]).filter((p) => isNumber(p[1]) && isNumber(p[2]));
    const mean = x.map((v, i) => ({value: [v, clamp(slice.mean[i])], index: i}));
    const name = 'predicted';
    const describe = (p) => tip(`${axis.name} = ${text(slice.x[p.data.index])}`, [
      ['mean', number(slice.mean[p.data.index])],
      ['50 % interval', `${number(slice.low50[p.data.index])} to ${number(slice.high50[p.data.index])}`],
      ['95 % interval', `${number(slice.low95[p.data.index])} to ${number(slice.high95[p.data.index])}`],
      ...(isNumber(slice.acquisition[p.data.index]) ? [['acquisition', number(slice.acquisition[p.data.index])]] : []),
    ]);
    const flat = axis.ticks !== undefined;
    const wide = Math.max(1, Math.min(14, 0.7 * (s.width - 100) / x.length));
    const draw = flat ? (n, c, p) => bars(n, c, wide, p) : (n, c, p) => band(n, c, p, s);
    return [
      {name, type: flat ? 'scatter' : 'line', z: 2, symbol: 'circle', symbolSize: flat ? Math.max(3, 0.85 * wide) : 5, showSymbol: true, lineStyle: {color: s.theme.mean, width: 2.5}, itemStyle: {color: s.theme.mean, opacity: flat ? 1 : 0.001}, emphasis: {itemStyle: {opacity: 1}}, data: mean, tooltip: {formatter: describe},
        markArea: {silent: true, itemStyle: {color: s.theme.infeasible, opacity: 0.35}, data: flat ? [] : runs(slice.infeasible).map(([a, b]) => [{xAxis: x[a]}, {xAxis: x[b]}])}},
      draw('95 % interval', s.theme.band95, interval(slice.low95, slice.high95)),
      draw('50 % interval', s.theme.band50, interval(slice.low50, slice.high50)),
    ];
  };

  // slice is the picture of the prediction along one parameter, with the acquisition function below.
  // Choices are {parameter, through}: the index of the axis, and the point that the slice passes through:
  // 'incumbent', 'next', or 'average' for the mean over the other parameters.
  const slice = (report, s) => {
    const model = report.models[s.objective];
    const averaged = s.through === 'average';
    const next = s.through === 'next' && model.next_slices !== undefined;
    const all = averaged ? model.averaged : next ? model.next_slices : model.slices;
    const found = all.find((x) => x.axis === s.parameter) || all[0];
    const axis = report.axes[found.axis];
    const goal = goalOf(report, s);
    const point = next ? 'next point' : centreOf(goal);
    const label = `Prediction of ${goal.name} along ${axis.name} ${averaged ? 'averaged over the other parameters' : 'through the ' + point}, with evaluations.`;
    if (!found.x || found.x.length === 0) {
      return blank(s, `${axis.name} is inactive at the ${point}`);
    }
    const k = kinds(report, s);
    const at = (list) => list.filter((t) => t.params[found.axis] !== null).map((t) => {
      const d = averaged ? 0 : (found.distances || {})[t.id];
      return {value: [place(axis, t.params[found.axis]), valueOf(t, s)], trial: t, itemStyle: {opacity: averaged ? 0.6 : isNumber(d) ? 0.2 + 0.8 * Math.exp(-3 * d * d) : 0.2}};
    });
    const edge = (list) => list.filter((t) => t.params[found.axis] !== null).map((t) => ({value: [place(axis, t.params[found.axis])], trial: t}));
    const here = place(axis, found.at);
    const series = used([
      ...sliceSeries(report, s, found, axis),
      marks('complete', s.theme.evaluation, at(k.complete), report),
      marks('infeasible', s.theme.infeasible, at(k.infeasible), report, triangle(s)),
      rug('failed', s.theme.failure, edge(k.failed), report),
      rug('stopped', s.theme.stopped, edge(k.stopped), report),
      rug('pending', s.theme.pending, edge(k.pending), report),
    ]);
    if (!averaged) series[0].markLine = {silent: true, symbol: 'none', precision: -1, label: {show: true, formatter: next ? 'next' : centreOf(goal).replace(' trial', ''), color: s.theme.text, fontSize: 12}, lineStyle: {color: s.theme.incumbent, type: 'dashed', width: 2}, data: [{xAxis: here}]};
    const acquisition = found.x.map((v, i) => [place(axis, v), found.acquisition[i]]).filter((p) => isNumber(p[1]));
    const xAxis = parameterAxis(axis, s, s.width - 98);
    const below = xAxis.nameGap - 28; // room of tilted names
    const top = s.narrow ? 84 : s.printing ? 64 : 48;
    const names = legendOf(s, series);
    if (averaged) names.data = names.data.filter((n) => n.name !== 'acquisition');
    const second = {xAxisIndex: 1, yAxisIndex: 1};
    if (axis.ticks) series.push({...columns('acquisition', s.theme.acquisition, (s.width - 98) / axis.ticks.length, acquisition, s), ...second});
    else series.push({name: 'acquisition', type: 'line', ...second, symbol: 'none', lineStyle: {color: s.theme.acquisition, width: 2}, itemStyle: {color: s.theme.acquisition}, areaStyle: {color: s.theme.acquisition, opacity: 0.25, origin: 'start'}, data: acquisition, silent: true});
    return {
      option: {
        ...base(s), legend: averaged ? names : {...names, data: [...names.data, {name: 'acquisition', icon: 'rect'}]},
        grid: [{left: 74, right: 24, top, bottom: (averaged ? 50 : 142) + below, outerBoundsMode: 'none'}, {left: 74, right: 24, height: averaged ? 0 : 74, bottom: 50 + below, outerBoundsMode: 'none'}],
        xAxis: [{...xAxis, name: '', axisLabel: {show: false}, axisTick: {show: false}}, {...xAxis, gridIndex: 1}],
        yAxis: [{...valueAxis(goal.name, s, true, scaleOfGoal(report, s.objective)), nameGap: 52}, {...lines(s), gridIndex: 1, show: !averaged, type: 'value', scale: true, ...(axis.ticks ? columnEnds(acquisition) : {}), name: 'acquisition', nameLocation: 'middle', nameGap: 12, nameRotate: 90, axisLabel: {show: false}, axisTick: {show: false}, splitLine: {show: false}}],
        series,
      },
      label,
      columns: [axis.name, 'mean', '50 % low', '50 % high', '95 % low', '95 % high', 'acquisition'],
      height: (s.narrow ? 440 : s.printing ? 400 : 470) + below,
      rows: () => found.x.map((v, i) => [text(v), ...[found.mean, found.low50, found.high50, found.low95, found.high95, found.acquisition].map((c) => number(c[i]))]),
      series: 0,
    };
  };

  const layers = {mean: 'mean', sd: 'standard deviation', acquisition: 'acquisition function', probability: 'probability of feasibility'};

  // ends returns the pixels between which cell i lies, from the pixels of the centres.
  const ends = (centres, i) => {
    const step = (a, b) => (centres[b] - centres[a]) / 2;
    const low = i > 0 ? step(i - 1, i) : step(0, 1);
    const high = i + 1 < centres.length ? step(i, i + 1) : step(centres.length - 2, centres.length - 1);
    return [centres[i] - low, centres[i] + high];
  };

  // transposed returns a map with its axes exchanged.
  const transposed = (m) => {
    const turn = (rows) => rows && rows[0].map((_, i) => rows.map((r) => r[i]));
    return {...m, x: m.y, y: m.x, xs: m.ys, ys: m.xs, at: [m.at[1], m.at[0]], mean: turn(m.mean), sd: turn(m.sd), acquisition: turn(m.acquisition), probability: turn(m.probability), infeasible: (m.infeasible || []).map(([j, i]) => [i, j])};
  };

  // map is the picture of a prediction over two parameters. Choices are {x, y, layer}.
  const map = (report, s) => {
    const model = report.models[s.objective];
    let m = model.maps.find((c) => c.x === s.x && c.y === s.y);
    if (!m) m = transposed(model.maps.find((c) => c.x === s.y && c.y === s.x) || model.maps[0]);
    const layer = m[s.layer] ? s.layer : 'mean';
    const [ax, ay] = [report.axes[m.x], report.axes[m.y]];
    const goal = goalOf(report, s);
    const hidden = new Set((m.infeasible || []).map(([j, i]) => j * m.xs.length + i));
    const positive = m[layer].every((r) => r.every((v) => !isNumber(v) || v > 0));
    const asLog = s.log && positive && layer !== 'probability';
    const scaled = (v) => (asLog ? Math.log10(v) : v);
    const cells = [];
    m.ys.forEach((y, j) => m.xs.forEach((x, i) => {
      const v = m[layer][j][i];
      if (isNumber(v)) cells.push({value: [place(ax, x), place(ay, y), scaled(v)], i, j, itemStyle: hidden.has(j * m.xs.length + i) ? {color: s.theme.infeasible} : undefined});
    }));
    if (cells.length === 0) return blank(s, `${ax.name} and ${ay.name} are not both active with the other parameters of the ${centreOf(goal)}`);
    const seen = cells.filter((c) => !c.itemStyle).map((c) => c.value[2]);
    const [low, high] = layer === 'probability' || seen.length === 0 ? [0, 1] : [Math.min(...seen), Math.max(...seen)];
    const k = kinds(report, {...s, log: false});
    const at = (list) => list.filter((t) => t.params[m.x] !== null && t.params[m.y] !== null).map((t) => ({value: [place(ax, t.params[m.x]), place(ay, t.params[m.y])], trial: t}));
    const labels = asLog || layer === 'probability' ? {suffix: '', format: (v) => brief(asLog ? 10 ** v : v)} : scaleOf(low, high);
    const back = labels.format;
    const heat = {
      name: layers[layer], type: 'custom', clip: true, z: 1, data: cells, encode: {x: 0, y: 1},
      tooltip: {formatter: (p) => tip(`${ax.name} = ${text(m.xs[p.data.i])}, ${ay.name} = ${text(m.ys[p.data.j])}`, Object.keys(layers).filter((l) => m[l]).map((l) => [layers[l], number(m[l][p.data.j][p.data.i])]).concat(hidden.has(p.data.j * m.xs.length + p.data.i) ? [['constraint', 'violated']] : []))},
      progressive: 0,
      renderItem: (params, api) => {
        const cell = cells[params.dataIndex];
        const at = params.context; // of this drawing, for all cells
        at.xs = at.xs || m.xs.map((x) => api.coord([place(ax, x), place(ay, m.ys[0])])[0]);
        at.ys = at.ys || m.ys.map((y) => api.coord([place(ax, m.xs[0]), place(ay, y)])[1]);
        const [x1, x2] = ends(at.xs, cell.i);
        const [y1, y2] = ends(at.ys, cell.j);
        const shape = echarts.graphic.clipRectByRect({x: Math.min(x1, x2), y: Math.min(y1, y2), width: Math.abs(x2 - x1) + 0.6, height: Math.abs(y2 - y1) + 0.6}, params.coordSys);
        return shape && {type: 'rect', shape, style: {fill: cell.itemStyle ? s.theme.infeasible : api.visual('color')}};
      },
    };
    const outline = {borderColor: s.theme.background, borderWidth: 1.2};
    const series = used([
      heat,
      marks('complete', s.theme.evaluation, at(k.complete), report, {itemStyle: {color: s.theme.evaluation, ...outline}}),
      marks('infeasible', s.theme.infeasible, at(k.infeasible), report, triangle(s)),
      marks('failed', s.theme.failure, at(k.failed), report, {symbol: cross, symbolSize: 11, itemStyle: {color: s.theme.failure, ...outline, borderWidth: 0.8}}),
      marks('stopped', s.theme.stopped, at(k.stopped), report, {symbol: 'rect', itemStyle: {color: s.theme.stopped, ...outline}}),
      marks('pending', s.theme.pending, at(k.pending), report, {...hollow(s, s.theme.pending, 'circle'), symbolSize: 9}),
      {...marks(centreOf(goal), s.theme.incumbent, m.at[0] === null || m.at[1] === null ? [] : [{value: [place(ax, m.at[0]), place(ay, m.at[1])], trial: report.trials.find((t) => t.id === model.incumbent.trial)}], report), symbol: 'diamond', symbolSize: 17, z: 5, itemStyle: {color: s.theme.incumbent, ...outline}},
    ]);
    const names = legendOf(s, series);
    return {
      option: {
        ...base(s), legend: {...names, data: names.data.filter((n) => n.name !== heat.name)},
        grid: {...base(s).grid, right: s.narrow ? 16 : 110, bottom: s.narrow ? 60 : 12},
        visualMap: {type: 'continuous', seriesIndex: 0, dimension: 2, min: low, max: high > low ? high : low + 1e-9, calculable: false, hoverLink: false, inRange: {color: s.sequential}, orient: s.narrow ? 'horizontal' : 'vertical', right: s.narrow ? 'center' : 4, bottom: s.narrow ? 0 : 'middle', itemHeight: s.narrow ? 160 : 220, itemWidth: 16, text: [back(high), back(low) + (labels.suffix && '\n(' + goal.name + labels.suffix + ')')], textStyle: {color: s.theme.text, fontSize: 12}, formatter: back},
        xAxis: {...parameterAxis(ax, s, s.width - (s.narrow ? 90 : 200)), splitLine: {show: false}}, yAxis: {...parameterAxis(ay, s, 300, true), splitLine: {show: false}}, series,
      },
      label: `Map of the ${layers[layer]} of ${goal.name} over ${ax.name} and ${ay.name}` + (seen.length ? `, from ${back(low)} to ${back(high)}${labels.suffix && ' (' + goal.name + labels.suffix + ')'}.` : '.'),
      columns: [ax.name, ay.name, ...Object.keys(layers).filter((l) => m[l]).map((l) => layers[l])],
      rows: () => cells.map((c) => [text(m.xs[c.i]), text(m.ys[c.j]), ...Object.keys(layers).filter((l) => m[l]).map((l) => number(m[l][c.j][c.i]))]),
      series: series.length > 1 ? 1 : 0,
    };
  };

  // importance is the picture of the Sobol indices.
  const importance = (report, s) => {
    const effects = report.models[s.objective].importance;
    const goal = goalOf(report, s);
    const names = effects.map((e) => e.parameter);
    const labels = labelsOf(names, s.narrow ? 13 : 26);
    const shown = effects.filter((e) => isNumber(e.total));
    const told = shown.slice(0, 8).map((e) => `${e.parameter} ${brief(Number(e.total.toFixed(2)))}`).join(', ');
    const describe = (p) => {
      const e = effects[p.dataIndex];
      return tip(e.parameter, [['alone', number(e.first)], ['with interactions', number(e.total)], ['90 % interval', `${number(e.total_interval.low)} to ${number(e.total_interval.high)}`], ['direction', e.direction]]);
    };
    const series = [
      {name: 'with interactions (total)', type: 'bar', barMaxWidth: 20, itemStyle: {color: s.theme.band50}, data: effects.map((e) => e.total), tooltip: {formatter: describe}, label: {show: true, position: 'insideLeft', color: s.theme.text, fontSize: 12, formatter: (p) => (p.value > 0.08 ? p.value.toFixed(2) : '')}},
      {name: 'alone (first order)', type: 'bar', barMaxWidth: 20, itemStyle: {color: s.theme.mean}, data: effects.map((e) => Math.max(0, e.first)), tooltip: {formatter: describe}},
      {name: '90 % interval of the total', type: 'custom', silent: true, z: 4, itemStyle: {color: s.theme.text}, encode: {x: [0, 1], y: 2}, data: effects.map((e, i) => [e.total_interval.low, e.total_interval.high, i]).filter((d) => isNumber(d[0])),
        renderItem: (params, api) => {
          const [x1, y] = api.coord([api.value(0), api.value(2)]);
          const [x2] = api.coord([api.value(1), api.value(2)]);
          const up = y - Math.min(10, api.size([0, 1])[1] / 5);
          const style = {stroke: s.theme.text, lineWidth: 1.5};
          return {type: 'group', children: [line(x1, up, x2, up, style), line(x1, up - 4, x1, up + 4, style), line(x2, up - 4, x2, up + 4, style)]};
        }},
    ];
    return {
      option: {...base(s), legend: legendOf(s, used(series)), xAxis: {...lines(s), type: 'value', min: 0, max: (v) => Math.max(1, Math.ceil(v.max * 10) / 10), name: 'part of the variance of the prediction', nameLocation: 'middle', nameGap: 28}, yAxis: {...lines(s), type: 'category', inverse: true, data: names, axisLabel: {color: s.theme.text, fontSize: 13, interval: 0, formatter: (v, i) => labels[i]}, splitLine: {show: false}}, series},
      label: `Importance of the parameters for ${goal.name}: ` + (shown.length ? told + (shown.length > 8 ? `, and ${shown.length - 8} less important ones.` : '.') : effects.every((e) => e.direction === 'not varied') ? 'all complete trials have equal parameters.' : 'the prediction is constant.'),
      height: 110 + (effects.length > 12 ? 28 : 44) * Math.max(2, effects.length),
      columns: ['parameter', 'alone', 'with interactions', '90 % low', '90 % high', 'direction'],
      rows: () => effects.map((e) => [e.parameter, number(e.first), number(e.total), number(e.total_interval.low), number(e.total_interval.high), e.direction]),
      series: 0,
    };
  };

  // calibration is the picture of predictions of each trial from the other trials.
  const calibration = (report, s) => {
    const goal = goalOf(report, s);
    const all = report.models[s.objective].calibration.predictions.filter((p) => onAxis(p.value, s) && onAxis(p.mean, s));
    // The probability of a smaller value refers to the value of the fit, which winsorises outliers.
    const inside = (p) => p.pit >= 0.025 && p.pit <= 0.975;
    const winsorised = (p) => inside(p) && (p.value < p.low || p.value > p.high);
    const floor = s.log ? Math.min(...all.map((p) => Math.min(p.value, p.mean))) / 3 : -Infinity;
    const point = (p) => ({value: [p.mean, p.value], prediction: p});
    const describe = (q) => tip('trial ' + q.data.prediction.trial, [['observed', number(q.data.prediction.value)], ['predicted', number(q.data.prediction.mean)], ['95 % interval', `${number(q.data.prediction.low)} to ${number(q.data.prediction.high)}`]]);
    const scale = scaleOfGoal(report, s.objective);
    const ends = all.length ? [Math.min(...all.map((p) => p.value)), Math.max(...all.map((p) => p.value))] : [0, 1];
    const series = used([
      marks('in the interval', s.theme.evaluation, all.filter((p) => inside(p) && !winsorised(p)).map(point), report, {tooltip: {formatter: describe}}),
      marks('outside', s.theme.evaluation, all.filter((p) => !inside(p)).map(point), report, {tooltip: {formatter: describe}, ...hollow(s, s.theme.evaluation, 'circle'), symbolSize: 10}),
      marks('outlier, winsorised in the fit', s.theme.evaluation, all.filter(winsorised).map(point), report, {tooltip: {formatter: describe}, symbol: 'triangle', symbolSize: 10}),
      across('95 % interval', s.theme.band50, 2, all.map((p) => [p.value, Math.max(p.low, floor), Math.max(p.high, floor)])),
      {name: 'equal', type: 'line', silent: true, symbol: 'none', z: 0, lineStyle: {color: s.theme.incumbent, type: 'dashed'}, itemStyle: {color: s.theme.incumbent}, data: ends.map((v) => [v, v])},
    ]);
    return {
      option: {...base(s), legend: legendOf(s, series), xAxis: valueAxis(goal.name + ', predicted from the others', s, false, scale), yAxis: valueAxis(goal.name + ', observed', s, true, scale), series},
      label: `Predictions of ${goal.name} in ${all.length} trials, each from the other trials; ${all.filter(inside).length} lie in their 95 % interval.` + (all.some(winsorised) ? ' Outliers count with their winsorised values.' : ''),
      columns: ['trial', 'observed', 'predicted', '95 % low', '95 % high', 'probability of a smaller value'],
      rows: () => all.map((p) => [p.trial, number(p.value), number(p.mean), number(p.low), number(p.high), number(p.pit)]),
      series: 0,
    };
  };

  // probability is the probability plot of the same predictions.
  const probability = (report, s) => {
    const pits = report.models[s.objective].calibration.predictions.filter((p) => isNumber(p.pit)).slice().sort((a, b) => a.pit - b.pit);
    const n = pits.length;
    const width = n > 0 ? 1.36 / Math.sqrt(n) : 0; // Kolmogorov's 95 % band
    const grid = Array.from({length: 41}, (_, i) => i / 40);
    const unit = {...lines(s), type: 'value', min: 0, max: 1, nameLocation: 'middle'};
    const series = used([
      {name: 'trials', type: 'scatter', z: 3, symbolSize: 6, itemStyle: {color: s.theme.evaluation}, data: pits.map((p, i) => ({value: [(i + 0.5) / n, p.pit], prediction: p})), tooltip: {formatter: (q) => tip('trial ' + q.data.prediction.trial, [['predicted probability', number(q.data.prediction.pit)], ['observed part', brief(q.data.value[0])]])}},
      band('95 % of calibrated models', s.theme.grid, n > 0 ? grid.map((x) => [x, Math.max(0, x - width), Math.min(1, x + width)]) : [], s),
      {name: 'equal', type: 'line', silent: true, symbol: 'none', z: 2, lineStyle: {color: s.theme.incumbent, type: 'dashed'}, itemStyle: {color: s.theme.incumbent}, data: [[0, 0], [1, 1]]},
    ]);
    return {
      option: {...base(s), legend: legendOf(s, series), xAxis: {...unit, name: 'part of the trials', nameGap: 28}, yAxis: {...unit, name: 'predicted probability of a smaller value', nameGap: 28, nameRotate: 90}, series},
      label: `Probability plot of ${n} predictions: a calibrated model follows the diagonal.`,
      columns: ['trial', 'part of the trials', 'predicted probability'],
      rows: () => pits.map((p, i) => [p.trial, brief((i + 0.5) / n), number(p.pit)]),
      series: 0,
    };
  };

  // shadeOf returns the colour of a rank between 0 for the worst and 1 for the best trial. The best contrasts
  // with the background most.
  const shadeOf = (s, rank) => s.sequential[Math.round((s.dark ? 1 - 0.85 * (1 - rank) : 0.9 * (1 - rank)) * (s.sequential.length - 1))];

  // parallel is the picture of all trials in parallel coordinates.
  const parallel = (report, s) => {
    const goal = goalOf(report, s);
    const k = kinds(report, s);
    const better = (a, b) => (goal.maximize ? valueOf(a, s) - valueOf(b, s) : valueOf(b, s) - valueOf(a, s));
    const thick = (t) => t.front || t.id === report.best; // the best trial, or the Pareto front
    const ordered = k.complete.slice().sort((a, b) => better(a, b) || thick(a) - thick(b) || b.id - a.id); // the best last, on top
    const shown = s.shown || report.axes.map((_, i) => i);
    const parameters = shown.map((i) => report.axes[i]);
    const goals = report.study.objectives;
    const count = shown.length + goals.length;
    const [across, down] = [(s.width - 130) / Math.max(1, count - 1), 300];
    const heads = labelsOf([...parameters, ...goals].map((a) => a.name), s.narrow ? 40 : Math.max(4, Math.floor(across / 8.2)));
    const rank = new Map(ordered.map((t, i) => [t.id, ordered.length > 1 ? i / (ordered.length - 1) : 1]));
    const shade = (t) => shadeOf(s, rank.get(t.id));
    // An inactive parameter has a place below the axis: without a value ECharts would join its neighbours.
    const trials = [...k.failed, ...k.infeasible, ...ordered];
    const inactive = shown.map((i) => {
      const a = report.axes[i];
      if (!trials.some((t) => t.params[i] === null)) return null;
      const [low, high] = [a.min || 0, a.max || 0];
      return a.ticks ? 'inactive' : a.log ? low * (low / high) ** 0.12 : low - 0.12 * (high - low || 1);
    });
    const cells = (t) => shown.map((i, n) => (t.params[i] === null ? inactive[n] : report.axes[i].ticks ? String(t.params[i]) : t.params[i]));
    const withInactive = (axis, n) => {
      if (inactive[n] === null) return axis;
      if (axis.data) {
        const {formatter} = axis.axisLabel;
        return {...axis, data: ['inactive', ...axis.data], axisLabel: {...axis.axisLabel, formatter: (v, i) => (i === 0 ? 'inactive' : formatter(v, i - 1))}};
      }
      const {formatter, customValues} = axis.axisLabel;
      const more = [inactive[n], ...customValues];
      return {...axis, min: inactive[n], axisTick: {...axis.axisTick, customValues: more}, axisLabel: {...axis.axisLabel, customValues: more, formatter: (v) => (v < (parameters[n].min || 0) - 0.05 * Math.abs((parameters[n].min || 0) - inactive[n]) ? 'inactive' : formatter(v))}};
    };
    const results = (t) => goals.map((_, i) => (onAxis(t.values[i], {...s, log: s.log && i === s.objective}) ? t.values[i] : '-'));
    const axes = parameters.map((a, i) => withInactive(labelled({
      dim: i, name: heads[i], type: a.ticks ? 'category' : a.log ? 'log' : 'value', ...(a.ticks ? {data: a.ticks.map(String), axisLabel: namesOf(a.ticks, s.narrow ? s.width - 44 : down, s.narrow ? 0 : Math.max(5, Math.min(14, Math.floor(across / 8))))} : {min: a.min || 0, max: a.max || 0}),
    }, a), i));
    goals.forEach((g, i) => {
      const scale = scaleOfGoal(report, i);
      const log = s.log && i === s.objective;
      axes.push({dim: shown.length + i, name: heads[shown.length + i] + (log ? '' : scale.suffix), type: log ? 'log' : 'value', scale: true, inverse: false, ...(log ? {} : {axisLabel: {formatter: scale.format}})});
    });
    const item = (t, style) => ({value: [...cells(t), ...results(t)], trial: t, lineStyle: style});
    const data = [
      ...k.failed.map((t) => item(t, {color: s.theme.failure, type: 'dashed', opacity: 0.6, width: 1.2})),
      ...k.infeasible.map((t) => item(t, {color: s.theme.infeasible, type: 'dotted', opacity: 0.9, width: 1.4})),
      ...ordered.map((t) => item(t, {color: shade(t), opacity: 0.55 + 0.45 * rank.get(t.id), width: thick(t) ? 3.5 : 1.4})),
    ];
    return {
      option: {
        ...base(s), legend: {show: false},
        parallel: {layout: s.narrow ? 'vertical' : 'horizontal', left: s.narrow ? 20 : 60, right: s.narrow ? 24 : 70, top: s.narrow ? 40 : 56, bottom: s.narrow ? 30 : 30, axisExpandable: false,
          parallelAxisDefault: {nameLocation: s.narrow ? 'start' : 'end', nameGap: s.narrow ? 0 : 14, nameTextStyle: {color: s.theme.text, fontSize: 13, fontWeight: s.narrow ? 'bold' : 'normal', align: s.narrow ? 'left' : 'center', verticalAlign: 'bottom', padding: s.narrow ? [0, 0, 4, 0] : 0, textBorderColor: s.theme.background, textBorderWidth: 4}, axisLine: {lineStyle: {color: s.theme.muted}}, axisTick: {lineStyle: {color: s.theme.muted}}, axisLabel: {color: s.theme.text, fontSize: 12, hideOverlap: true, textBorderColor: s.theme.background, textBorderWidth: 3, formatter: (v) => (isNumber(v) ? brief(v) : v)}, splitLine: {show: false}, areaSelectStyle: {color: s.theme.mean, borderColor: s.theme.mean, opacity: 0.3}}},
        parallelAxis: axes,
        series: [{name: 'trials', type: 'parallel', smooth: false, progressive: 0, inactiveOpacity: 0.04, activeOpacity: 1, emphasis: {disabled: false, lineStyle: {width: 4}}, data, tooltip: {formatter: (p) => trialTip(report, p.data.trial)}}],
      },
      label: `Parallel coordinates of ${data.length} trials over ${shown.length === report.axes.length ? '' : `${shown.length} of ${report.axes.length} parameters: `}${parameters.map((a) => a.name).join(', ')} and ${goals.map((g) => g.name).join(', ')}, coloured by ${goal.name}.`,
      columns: [...trialColumns(report), ...goals.map((g) => g.name)],
      rows: () => data.map((d) => [...trialCells(d.trial), ...d.trial.values.map(number)]),
      series: 0,
      height: s.narrow ? 90 + 62 * count : undefined,
    };
  };

  // pareto is the picture of two of several objectives. Choices are {x, y}: their indices.
  const pareto = (report, s) => {
    const [gx, gy] = [report.study.objectives[s.x], report.study.objectives[s.y]];
    const done = report.trials.filter((t) => t.state === 'complete' && onAxis(t.values[s.x], s) && onAxis(t.values[s.y], s));
    const at = (list) => list.map((t) => ({value: [t.values[s.x], t.values[s.y]], trial: t}));
    const front = done.filter((t) => t.front).sort((a, b) => a.values[s.x] - b.values[s.x]);
    const two = report.study.objectives.length === 2;
    const reference = report.references && onAxis(report.references[s.x], s) && onAxis(report.references[s.y], s) ? [[report.references[s.x], report.references[s.y]]] : [];
    const series = used([
      marks('Pareto front', s.theme.front, at(front), report, {symbol: 'diamond', symbolSize: 12, z: 4}),
      marks('dominated', s.theme.evaluation, at(done.filter((t) => !t.front && t.feasible !== false)), report),
      marks('infeasible', s.theme.infeasible, at(done.filter((t) => t.feasible === false)), report, triangle(s)),
      {name: 'reference point', type: 'scatter', symbol: plus, symbolSize: 14, itemStyle: {color: s.theme.muted}, data: reference, tooltip: {formatter: (p) => tip('reference point', [[gx.name, number(p.value[0])], [gy.name, number(p.value[1])]])}},
      {name: '', type: 'line', silent: true, symbol: 'none', step: gx.maximize ? 'start' : 'end', z: 2, lineStyle: {color: s.theme.front, width: 2}, data: two ? at(front) : []},
    ]);
    return {
      option: {...base(s), legend: legendOf(s, series), xAxis: valueAxis(`${gx.name} (${gx.maximize ? 'maximise' : 'minimise'})`, s, false, scaleOfGoal(report, s.x)), yAxis: valueAxis(`${gy.name} (${gy.maximize ? 'maximise' : 'minimise'})`, s, true, scaleOfGoal(report, s.y)), series},
      label: `${front.length} of ${done.length} trials are on the Pareto front of ${gx.name} and ${gy.name}.`,
      columns: [...trialColumns(report), ...report.study.objectives.map((o) => o.name), 'on the front'],
      rows: () => done.map((t) => [...trialCells(t), ...t.values.map(number), t.front ? 'yes' : 'no']),
      series: 0,
    };
  };

  // hypervolume is the picture of the hypervolume after each trial.
  const hypervolume = (report, s) => {
    const points = report.trials.filter((t) => isNumber(t.hypervolume));
    return {
      option: {...base(s), legend: {show: false}, tooltip: {...base(s).tooltip, trigger: 'axis', formatter: (p) => tip('trial ' + p[0].value[0], [['hypervolume', number(p[0].value[1])]])}, xAxis: {...lines(s), type: 'value', name: 'trial', nameLocation: 'middle', nameGap: 28, minInterval: 1, splitLine: {show: false}, max: (v) => v.max + 1}, yAxis: valueAxis('hypervolume', {...s, log: false}, true),
        series: [{name: 'hypervolume', type: 'line', step: 'end', symbol: 'none', lineStyle: {color: s.theme.front, width: 3}, itemStyle: {color: s.theme.front}, data: points.map((t) => [t.id, t.hypervolume])}]},
      label: `Hypervolume after each of ${points.length} trials` + (points.length ? `; the last is ${number(points[points.length - 1].hypervolume)}.` : '.'),
      columns: ['trial', 'hypervolume'],
      rows: () => points.map((t) => [t.id, number(t.hypervolume)]),
      series: 0,
    };
  };

  const units = [[86400 * 2, 86400, 'days'], [7200, 3600, 'hours'], [120, 60, 'minutes'], [0, 1, 'seconds']];

  // timeline is the picture of the evaluations of each worker.
  const timeline = (report, s) => {
    const {lanes, end} = report.timeline;
    const [, size, unit] = units.find(([least]) => end >= least);
    const colors = {complete: s.theme.mean, failed: s.theme.failure, lost: s.theme.muted, stopped: s.theme.stopped, pending: s.theme.pending};
    const hidden = (state) => !s.failed && state !== 'complete' && state !== 'pending';
    const byState = {};
    lanes.forEach((lane, row) => lane.spans.forEach((x) => {
      const state = x.state === 'pending' ? 'running' : x.state;
      if (!hidden(x.state)) (byState[state] = byState[state] || []).push({value: [x.from / size, x.to / size, row], span: x, worker: lane.worker});
    }));
    const series = Object.entries(byState).map(([state, data]) => {
      const color = colors[state === 'running' ? 'pending' : state];
      return {
        name: state, type: 'custom', data, encode: {x: [0, 1], y: 2}, itemStyle: {color},
        tooltip: {formatter: (p) => tip('trial ' + p.data.span.trial, [['worker', p.data.worker || 'unknown'], ['state', state], ['start', brief(p.data.value[0]) + ' ' + unit], ['duration', brief(p.data.span.to - p.data.span.from) + ' seconds']])},
        renderItem: (params, api) => {
          const [x1, y] = api.coord([api.value(0), api.value(2)]);
          const [x2] = api.coord([api.value(1), api.value(2)]);
          const height = Math.min(28, api.size([0, 1])[1] * 0.7);
          return {type: 'rect', shape: {x: x1, y: y - height / 2, width: Math.max(1.5, x2 - x1 - 1), height}, style: {fill: color}};
        },
      };
    });
    const names = lanes.map((l, i) => l.worker || `worker ${i + 1}`);
    return {
      option: {...base(s), legend: {...legendOf(s, series), icon: 'rect', data: series.map((x) => x.name)}, xAxis: {...lines(s), type: 'value', min: 0, name: `${unit} since the first evaluation`, nameLocation: 'middle', nameGap: 28}, yAxis: {...lines(s), type: 'category', inverse: true, data: names.map((n, i) => n + '\u200b'.repeat(i)), axisLabel: {color: s.theme.text, fontSize: 12, width: s.narrow ? 80 : 160, overflow: 'truncate'}, splitLine: {show: false}}, series},
      label: `Timeline of ${lanes.length} ${lanes.length === 1 ? 'worker' : 'workers'}, busy ${number(Math.round(100 * report.timeline.busy))} % of the time.`,
      columns: ['worker', 'trial', 'state', 'start in seconds', 'end in seconds'],
      rows: () => lanes.flatMap((l, i) => l.spans.map((x) => [names[i], x.trial, x.state, number(x.from), number(x.to)])),
      series: 0,
      height: Math.min(640, 130 + 36 * lanes.length),
    };
  };

  // curves is the picture of the values that trials reported while they ran.
  const curves = (report, s) => {
    const byId = new Map(report.trials.map((t) => [t.id, t]));
    const goal = report.study.objectives[0];
    const sorted = report.curves.filter((c) => byId.has(c.trial) && (s.failed || ['complete', 'pending'].includes(byId.get(c.trial).state))).map((c) => ({...c, last: c.steps.map((p) => p[1]).filter((v) => onAxis(v, s)).pop()})).filter((c) => isNumber(c.last)).sort((a, b) => (goal.maximize ? a.last - b.last : b.last - a.last));
    const shade = (i) => (sorted.length > 1 ? shadeOf(s, i / (sorted.length - 1)) : s.theme.mean);
    const series = sorted.map((c, i) => {
      const t = byId.get(c.trial);
      const cut = t.state === 'stopped';
      return {
        name: 'trial ' + c.trial, type: 'line', z: (c.trial === report.best ? 3 : 2) + i / 1000, symbol: 'circle', symbolSize: 5, showSymbol: c.steps.length < 2, triggerLineEvent: true, lineStyle: {width: c.trial === report.best || sorted.length === 1 ? 3.5 : 1.5, color: shade(i), type: cut ? [4, 3] : 'solid', opacity: cut ? 0.7 : 1}, itemStyle: {color: shade(i)}, emphasis: {focus: 'series', lineStyle: {width: 4}},
        data: c.steps.filter((p) => onAxis(p[1], s)), tooltip: {formatter: (p) => tip('trial ' + c.trial, [['state', t.state], ...(p.value && p.value.length ? [['step', number(p.value[0])], [goal.name, number(p.value[1])]] : [])])},
      };
    });
    return {
      option: {...base(s), legend: {show: false}, grid: {...base(s).grid, top: 20}, xAxis: {...lines(s), type: 'value', scale: true, name: 'step', nameLocation: 'middle', nameGap: 28, splitLine: {show: false}}, yAxis: valueAxis(goal.name, s, true, scaleOfValues(sorted.flatMap((c) => c.steps.map((p) => p[1])))), series},
      label: sorted.length === 1 ? `Learning curve of trial ${sorted[0].trial}.` : `Learning curves of ${sorted.length} trials` + (sorted.some((c) => byId.get(c.trial).state === 'stopped') ? '; dashed curves were stopped early.' : '.'),
      columns: ['trial', 'state', 'step', goal.name],
      rows: () => sorted.flatMap((c) => c.steps.map((p) => [c.trial, byId.get(c.trial).state, number(p[0]), number(p[1])])),
      series: Math.max(0, series.length - 1),
    };
  };

  return {centreOf, history, slice, map, importance, calibration, probability, parallel, pareto, hypervolume, timeline, curves, canLog, number, text, layers};
})();
