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
}).concat(el('p', {}, el('a', {href: `#relations/${encodeURIComponent(task.task)}`}, `Labels and predictions of each encoding for ${task.task}`)));

const startTasks = () => {
  const {tasks, slots} = data('tasks'), {found} = relationData();
  const rows = tasks.map((task) => ({...task, found: found.filter((one) => one.task === task.task)}));
  const briefly = ({found}) => unique(found.map((one) => {
    if (!one.src) return 'no circuit';
    const last = one.src[one.src.length - 1];
    return `SRC ${srcText(last)} at ${one.largest} (${one.status})`;
  })).join('; ') || 'not analysed';
  const list = lazyList(byId('task-list'), (task) => opening([
    el('span', {}, el('span', {class: 'id'}, task.task), el('span', {class: 'marks'}, briefly(task))),
    el('span', {class: 'said'}, ...task.layout.split('`').map((text, index) => (index % 2 ? el('code', {}, text) : text))),
  ], () => [
    pairs(task.base && ['Digits', `0 to ${task.base - 1}`], ['Reference circuit', task.reference_arity ? plural(task.reference_arity, 'slot') : 'none of bounded arity']),
    ...taskBody(task, task.found, slots)], {'data-task': task.task}));
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
