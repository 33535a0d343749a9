// Charts of runs: exact match by scale for the seeds of each encoding, and the checkpoints of one run.

const median = (values) => {
  const known = values.filter((value) => value !== null).sort((a, b) => a - b), middle = known.length >> 1;
  return known.length ? known.length % 2 ? known[middle] : (known[middle - 1] + known[middle]) / 2 : null;
};
const last = (run) => run.exact[run.exact.length - 1];
const least = (run, group, inTraining) => {
  const values = group.test.map((scale, index) => (group.train.includes(scale) === inTraining ? last(run)[index] : null)).filter((value) => value !== null);
  return values.length ? Math.min(...values) : null;
};
const outcomeOf = (run, group) => {
  if (!run.exact) return 'unfinished';
  if (!(least(run, group, true) >= group.threshold)) return 'not learnt';
  return least(run, group, false) >= group.threshold ? 'generalizes' : 'fits, does not generalize';
};
const OUTCOMES = {generalizes: ['good', '✓'], 'fits, does not generalize': ['bad', '✗'], 'not learnt': ['open', '?'], unfinished: ['open', '…']};

// Chart of exact match at the last checkpoint by scale; `curves` is [{label, look, group, runs}].
const byScale = (title, curves) => {
  const [{group}] = curves, xs = group.test;
  const trained = group.train.map((scale) => xs.indexOf(scale));
  return chart({
    title: `${title}: exact match at the last checkpoint by scale`, xs, of: 'scale', threshold: group.threshold,
    band: [Math.min(...trained), Math.max(...trained)], start: Math.max(...trained) + 1 < xs.length ? Math.max(...trained) + 1 : 0,
    series: curves.map(({look, runs}) => ({look, seeds: runs.map(last), points: xs.map((_, index) => median(runs.map((run) => last(run)[index])))})),
    describe: (index) => [table(`Exact match at scale ${xs[index]}`, [
      ['encoding', ({label}) => label],
      ['median', ({runs}) => number(median(runs.map((run) => last(run)[index]))), 'number'],
      ['solved', ({runs}) => `${runs.filter((run) => last(run)[index] >= group.threshold).length} of ${runs.length}`, 'number'],
      ['every seed', ({runs}) => runs.map((run) => number(last(run)[index])).join(', ')],
    ], curves)],
  });
};

const valuesTable = (curves) => {
  const [{group}] = curves;
  const rows = curves.flatMap(({label, runs}) => runs.map((run) => ({label, run})));
  return table('Exact match at the last checkpoint, by scale', [
    ['encoding', ({label}) => label],
    ['seed', ({run}) => String(run.seed), 'number'],
    ...group.test.map((scale, index) => [String(scale), ({run}) => number(last(run)[index], 4), 'number']),
  ], rows);
};

const WORST = {
  'worst training scale': {light: '#004488', dark: '#8ab8ea', marker: 'o', fill: 'full', dashes: []},
  'worst scale beyond': {light: '#BB5566', dark: '#e39aa6', marker: 's', fill: 'none', dashes: [10, 3]},
};
const LOSS = {light: '#5A7522', dark: '#a9c46f', marker: 'D', fill: 'full', dashes: [4, 2]};

// Charts of exact match and loss of one run by epoch.
const byEpoch = (run, group) => {
  const worst = (inTraining) => run.exact.map((row) => {
    const values = row.filter((value, index) => value !== null && group.train.includes(group.test[index]) === inTraining);
    return values.length ? Math.min(...values) : null;
  });
  const series = Object.entries(WORST).map(([label, look], index) => ({label, look, points: worst(index === 0)}));
  const legend = (entries) => el('p', {class: 'legend'}, ...entries.map(({label, look}) => el('span', {}, swatch(look), label)));
  const loss = {label: 'training loss', look: LOSS, points: run.loss};
  const describe = (entries) => (index) => [el('p', {class: 'note'}, entries.map(({label, points}) => `${label} ${number(points[index], 5)}`).join('; '))];
  const common = {xs: run.epochs, of: 'epoch', start: run.epochs.length - 1};
  return [
    el('h4', {}, 'Exact match by epoch'), legend(series),
    ...chart({...common, title: `Exact match of ${run.name} by epoch`, series, threshold: group.threshold, describe: describe(series)}),
    el('h4', {}, 'Training loss by epoch'), legend([loss]),
    ...chart({...common, title: `Training loss of ${run.name} by epoch`, series: [loss], top: nice(Math.max(...run.loss.filter((value) => value !== null), 0)), describe: describe([loss])}),
    opening(['The values as a table'], () => [table('Exact match by epoch and scale', [
      ['epoch', (row) => String(run.epochs[row]), 'number'],
      ['loss', (row) => number(run.loss[row], 5), 'number'],
      ...group.test.map((scale, index) => [String(scale), (row) => number(run.exact[row][index], 4), 'number']),
    ], run.epochs.map((_, row) => row))]),
  ];
};
