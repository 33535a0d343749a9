// The tasks view: SRC by scale with its status, and a circuit at a small scale.

const STATUS = {
  exact: 'exact: the bounds meet, and every prompt was checked',
  reference: 'reference: the bounds meet, and the reference circuit of the task attains them; not every prompt was checked',
  sampled: 'sampled: the bounds meet on a sample of prompts; the value is a lower bound',
  bounds: 'bounds: lower and upper bound differ at some scales',
};

const srcText = ([low, high]) => (low === high ? (low === 'inf' ? '∞' : String(low)) : `${low}–${high === 'inf' ? '∞' : high}`);

// Groups neighbouring scales with the same value: [[1, 20, '1']].
const runsOf = (values) => {
  const found = [];
  values.forEach((value, index) => {
    const last = found[found.length - 1];
    if (last && last[2] === value) last[1] = index + 1;
    else found.push([index + 1, index + 1, value]);
  });
  return found;
};

const srcTable = (one) => table(`SRC of ${one.task}, ${one.format}`, [
  ['scales', ([first, last]) => (first === last ? `${first}` : `${first}–${last}`)],
  ['SRC', ([, , value]) => value, 'number'],
], runsOf(one.src.map(srcText)));

const taskBody = (task, found, slots) => found.flatMap((one) => {
  const heading = el('h4', {}, one.format);
  if (!one.src) return [heading, el('p', {}, one.why)];
  const shown = one.scales[Math.min(2, one.scales.length - 1)], scale = one.scales.indexOf(shown) + 1;
  return [
    heading,
    srcTable(one),
    el('p', {class: 'note'}, `${STATUS[one.status] || one.status}. Up to scale ${one.largest}, on ${plural(one.inputs, 'prompt')}; `
      + `${plural(one.arity, 'slot')}, the fewest possible.`,
      one.coverage_scale ? ` All operator entries in use occur up to scale ${one.coverage_scale}.` : ''),
    ...circuit(shown, slots, `A circuit of ${one.task}, ${one.format}, at scale ${scale}`),
  ];
}).concat(found.length ? el('p', {}, el('a', {href: `#relations/${encodeURIComponent(task.task)}`}, `Labels of each encoding for ${task.task}`)) : []);

// Forecasts, runs and verdicts of one task.
const cellsOfTask = (task, cells, looks) => (cells.length ? [
  ...cellsPicture(cells, looks), cellsTable(cells, looks, task.task), forecastNote(),
  el('p', {}, el('a', {href: addressOf('runs', {task: task.task})}, `Runs of ${task.task}`)),
] : []);

// What is known of the circuits of a task, in a few words; formats are named where they differ.
const briefly = ({found, file}) => {
  const said = new Map();
  for (const one of found) {
    const words = one.src ? `SRC ${srcText(one.src[one.src.length - 1])} up to scale ${one.largest} (${one.status})` : 'no circuit';
    said.set(words, [...(said.get(words) || []), one.format]);
  }
  return [...said].map(([words, formats]) => (said.size > 1 ? `${words}: ${formats.join(', ')}` : words)).join('; ')
    || (file ? 'no circuit is stored' : 'not analysed');
};

// The tokens of an instance stand for the description of a task that has none; a token that is repeated is named once.
const layoutOf = ({layout, found}) => {
  const one = found.find(({src}) => src);
  if (layout || !one) return layout;
  const scale = Math.min(3, one.scales.length), names = one.scales[scale - 1].names;
  const shown = names.flatMap((name, index) => (name !== names[index - 1] ? [name] : name !== names[index - 2] ? ['…'] : []));
  return `\`${shown.join(' ')}\` at scale ${scale}`;
};

const startTasks = () => {
  const {tasks, slots} = data('tasks'), {found} = relationData(), {looks} = data('trials');
  const judged = judgedCells(), cells = [...judged.flatMap((one) => one.cells), ...otherCells(judged)];
  const rows = tasks.map((task) => ({...task, found: found.filter((one) => one.task === task.task), cells: cells.filter((cell) => cell.task === task.task)}));
  const list = lazyList(byId('task-list'), (task) => opening([
    el('span', {}, el('span', {class: 'id'}, task.task), el('span', {class: 'marks'}, briefly(task))),
    el('span', {class: 'said'}, ...layoutOf(task).split('`').map((text, index) => (index % 2 ? el('code', {}, text) : text))),
  ], () => [
    pairs(task.file && ['File', el('code', {}, task.file)],
      task.base && ['Digits', `0 to ${task.base - 1}`],
      task.layout && ['Reference circuit', task.reference_arity ? plural(task.reference_arity, 'slot') : 'none of bounded arity']),
    !task.found.length && task.file && el('p', {}, 'Its circuit is stored by ', el('code', {}, `lengthgen conjecture ${task.file}`)),
    ...cellsOfTask(task, task.cells, looks),
    ...taskBody(task, task.found, slots)].filter(Boolean), {'data-task': task.task}), ({mine}) => (mine ? 'In this folder' : 'Others'));
  list.show(rows);
  return {reach: (name) => {
    const row = rows.find((one) => one.task === name);
    if (!row) return false;
    const shown = list.reach(row);
    shown.open = true;
    shown.scrollIntoView();
    shown.querySelector('summary').focus({preventScroll: true});
    return true;
  }};
};
