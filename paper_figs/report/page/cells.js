// The reader's cells: exact match by scale in small pictures, and each forecast beside the runs.

// How the operands of a format are written.
const OPERANDS = {aligned: 'padded', filled: 'filled', unaligned: 'as written'};
const forecastText = ({forecast}) => {
  if (!forecast) return '–';
  const [share, low, high] = forecast.share;
  return `${share.toFixed(2)} (${low.toFixed(2)}-${high.toFixed(2)})`;
};
const forecastWords = (cell) => {
  if (!cell.forecast) return '';
  const {breaks_at: scale, why, recorded: [generalize, runs]} = cell.forecast;
  return `${forecastText(cell)} of the fitting runs generalize; ${scale === null ? '' : `breaks at scale ${number(scale)}; `}`
    + `on record: ${runs ? `${generalize} of ${plural(runs, 'run')}` : 'no run of this cell'}. ${why}`;
};
const outcomeText = ({fit, generalizes_given_fit: [generalize, fitting]}) => (fitting ? `${generalize} of ${fitting}` : `none of ${fit[1]} fits`);

// Cells of all trials, each with the scales and the threshold of its trial.
const judgedCells = () => data('trials').trials.map((trial) => ({trial, cells: mainCells(trial).map((cell) => ({...cell, train: trial.train, threshold: +trial.main.threshold}))}));

// Cells of the stored runs that no trial judges, as `lengthgen train` makes them.
const otherCells = (judged) => {
  const {groups, runs} = data('runs'), nameOf = ({task, format, encoding, size}) => JSON.stringify([task, format, encoding, size]);
  const known = new Set(judged.flatMap(({trial}) => trial.cells.map(nameOf)));
  return groups.map((group, index) => ({group, runs: runs.filter((run) => run.group === index && run.exact)}))
    .filter((one) => one.runs.length && !known.has(nameOf(one.group)))
    .map(({group, runs: its}) => {
      const outcomes = its.map((run) => outcomeOf(run, group)), count = (of) => outcomes.filter(of).length;
      const fitting = count((one) => one !== 'not learnt'), generalize = count((one) => one === 'generalizes');
      return {...group, forecast: null, verdict: 'not judged', fit: [fitting, its.length], generalizes_given_fit: [generalize, fitting],
        exact: its.map((run) => group.test.map((scale, place) => [scale, last(run)[place]]))};
    });
};

// One small picture: exact match by scale of all cells of one task and format; a faint line for each run, and their median.
const smallPicture = (title, cells, looks, alone) => {
  const WIDTH = alone ? 420 : 250, HEIGHT = alone ? 210 : 150, LEFT = 30, RIGHT = 8, TOP = 8, BOTTOM = 32;
  const xs = unique(cells.flatMap(({exact}) => exact.flatMap((run) => run.map(([scale]) => scale)))).sort((a, b) => a - b);
  const x = (index) => LEFT + (xs.length > 1 ? index / (xs.length - 1) : 0.5) * (WIDTH - LEFT - RIGHT), y = (value) => TOP + (1 - value) * (HEIGHT - TOP - BOTTOM);
  const trained = cells[0].train.map((scale) => xs.indexOf(scale)).filter((place) => place >= 0);
  const valuesOf = (run) => { const values = new Map(run); return xs.map((scale) => (values.has(scale) ? values.get(scale) : null)); };
  const curves = cells.map((cell) => {
    const runs = cell.exact.map(valuesOf);
    return {look: looks[cell.encoding], label: labelIn(looks, cell.encoding), runs, points: xs.map((_, index) => median(runs.map((run) => run[index])))};
  });
  const words = curves.map(({label, points}) => `${label} ${number(points[points.length - 1], 2)}`).join(', ');
  return el('figure', {class: 'small'},
    svg('svg', {width: WIDTH, height: HEIGHT, viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'img',
      'aria-label': `${title}: exact match by scale; median at scale ${xs[xs.length - 1]}: ${words}`},
      trained.length ? svg('rect', {class: 'band', x: x(Math.min(...trained)), y: TOP, width: Math.max(2, x(Math.max(...trained)) - x(Math.min(...trained))), height: HEIGHT - TOP - BOTTOM}) : null,
      ...[0, 0.5, 1].flatMap((value) => [svg('line', {class: 'grid', x1: LEFT, x2: WIDTH - RIGHT, y1: y(value), y2: y(value)}),
        svg('text', {class: 'faint', x: LEFT - 5, y: y(value) + 4, 'text-anchor': 'end', 'font-size': 11}, String(value))]),
      ...unique([0, trained.length ? Math.max(...trained) : 0, xs.length - 1]).map((index) => svg('text', {class: 'faint', x: x(index), y: HEIGHT - BOTTOM + 14, 'text-anchor': 'middle', 'font-size': 11}, String(xs[index]))),
      svg('text', {class: 'faint', x: WIDTH - RIGHT, y: HEIGHT - 4, 'text-anchor': 'end', 'font-size': 11}, 'scale'),
      svg('line', {class: 'threshold', x1: LEFT, x2: WIDTH - RIGHT, y1: y(cells[0].threshold), y2: y(cells[0].threshold)}),
      ...curves.flatMap(({look, runs, points}) => [...runs.map((run) => hued(svg('path', {class: 'seed', d: curvePath(run, x, y)}), look)),
        hued(svg('path', {class: 'curve', d: curvePath(points, x, y), 'stroke-dasharray': look.dashes.join(' ') || null}), look)])),
    el('figcaption', {}, title));
};

const cellsPicture = (cells, looks) => {
  const panelOf = ({task, format, size, train}) => JSON.stringify([task, format, size, train]), panels = unique(cells.map(panelOf));
  const severalSizes = unique(cells.map(({size}) => size)).length > 1;
  return [
    el('div', {class: 'smalls'}, ...panels.map((panel) => {
      const [task, format, size] = JSON.parse(panel);
      return smallPicture(`${task}, ${OPERANDS[format] || format}${severalSizes ? `, ${size}` : ''}`, cells.filter((cell) => panelOf(cell) === panel), looks, panels.length === 1);
    })),
    el('p', {class: 'legend note'}, ...unique(cells.map(({encoding}) => encoding)).map((encoding) => el('span', {}, swatch(looks[encoding]), labelIn(looks, encoding)))),
    el('p', {class: 'note'}, 'Exact match by scale at the last checkpoint: each run faint, their median bold. Training scales are shaded; dotted: the threshold.'),
  ];
};

const cellsTable = (cells, looks, name) => table(`Forecast against outcome (${name})`, [
  ['task', ({task}) => el('a', {href: `#tasks/${encodeURIComponent(task)}`}, task), 'name'],
  ['encoding', ({task, encoding}) => el('a', {href: addressOf('runs', {task, encoding})}, labelIn(looks, encoding))],
  ['operands', ({format}) => OPERANDS[format] || format],
  ['forecast', forecastText, 'number'],
  ['generalize, of fitting runs', outcomeText, 'number'],
  ['verdict', ({verdict}) => el('span', {class: `mark ${JUDGED[verdict] || 'open'}`}, verdict)],
], cells);

const forecastNote = () => el('p', {class: 'note'}, 'Forecast: the share of the fitting runs that should generalize, with its 95 % interval. A run fits if every training scale reaches the threshold.');

const MANY = 48; // rows of a table that stands open

// The first part of the overview. Trials of the reader's own tasks come first; other trials are folded after the first.
const foundCells = () => {
  const {unjudged, looks} = data('trials'), judged = judgedCells(), others = otherCells(judged);
  const tableOf = (cells, name) => cellsTable(cells, looks, name);
  const shown = (cells, name) => [...cellsPicture(cells, looks),
    cells.length > MANY ? opening([`Forecast against outcome of ${cells.length} cells`], () => [tableOf(cells, name)]) : tableOf(cells, name)];
  const parts = judged.flatMap(({trial, cells}, index) => {
    const body = () => [el('p', {class: 'conclusion'}, el('a', {href: `#verdicts/${encodeURIComponent(trial.name)}`}, 'All of it'), ': ', ...conclusionOf(trial, looks))];
    return index && !trial.own ? [opening([trial.name], () => [...shown(cells, trial.name), ...body()])]
      : [el('h3', {}, trial.name), ...shown(cells, trial.name), forecastNote(), ...body()];
  });
  if (others.length) parts.push(el('h3', {}, 'Runs that no trial judges'), ...shown(others, 'runs that no trial judges'));
  for (const [name, command] of unjudged) parts.push(el('p', {}, el('b', {}, name), ' is predicted and not judged yet:'), el('pre', {}, el('code', {}, command)));
  return parts.length ? parts : [el('p', {}, 'Nothing of yours is trained in this folder yet. This command says what to expect of a task and trains it:'),
    el('pre', {}, el('code', {}, 'lengthgen conjecture my_task.py:name'))];
};
