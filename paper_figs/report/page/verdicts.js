// The protocols view: for each stored protocol the conclusion, predictions against runs, every cell, and both rules.

const JUDGED = {refuted: 'bad', consistent: 'good'};
const share = ([successes, trials, low, high]) => (trials ? `${successes} of ${trials} [${number(low, 2)}, ${number(high, 2)}]` : '–');
const known = (cell) => cell.predicted !== null && cell.observed !== null;
const wrong = (cell) => known(cell) && cell.predicted !== cell.observed;
const generalizing = ([successes, trials]) => (trials ? `${successes} of ${trials} fitting runs generalize` : 'no run fits');
const expected = (cell) => (cell.predicted === null ? 'no prediction' : cell.predicted ? 'predicted to generalize'
  : `predicted to break${cell.breaks[0] === null ? '' : ` at ${number(cell.breaks[0])}`}`);

const mainCells = (trial) => trial.cells.filter((cell) => cell.size === trial.main.size);
const labelIn = (looks, encoding) => (looks[encoding] || {label: encoding}).label;
const cellName = (cell, looks) => `${cell.task}, ${cell.format}, ${labelIn(looks, cell.encoding)}`;

// What a protocol found, in one sentence.
const conclusionOf = (trial, looks) => {
  const cells = mainCells(trial), decided = cells.filter(known), refuted = cells.filter((cell) => cell.verdict === 'refuted');
  if (!decided.length) return [el('b', {}, 'No cell has an outcome yet'), ': in each fewer than three runs fit, or as many generalize as do not.'];
  return [
    el('b', {}, `${decided.filter((cell) => !wrong(cell)).length} of ${plural(decided.length, 'observed cell')} as predicted`), '. ',
    refuted.length ? el('span', {class: 'mark bad'}, `✗ refuted: ${refuted.map((cell) => cellName(cell, looks)).join('; ')}`) : 'No prediction is refuted',
    `. ${plural(cells.filter((cell) => cell.verdict === 'consistent').length, 'cell')} consistent, the others undecided.`];
};

// Predictions against runs: a row for each task and format, a column for each encoding.
const outcomeTable = (trial, looks) => {
  const cells = mainCells(trial), encodings = unique(cells.map((cell) => cell.encoding));
  const rowOf = (cell) => `${cell.task}, ${cell.format}`;
  const kind = (cell) => (wrong(cell) ? 'miss' : known(cell) ? 'hit' : 'none');
  const shown = (cell) => (cell ? el('span', {class: kind(cell), title: `${expected(cell)}; ${generalizing(cell.generalizes_given_fit)}`},
    `${yes(cell.predicted)} · ${cell.generalizes_given_fit[1] ? cell.generalizes_given_fit.slice(0, 2).join('/') : '–'}`) : '');
  return [
    table(`Predicted to generalize · fitting runs that do (${trial.name})`, [
      ['task, format', (row) => row, 'name'],
      ...encodings.map((encoding) => [labelIn(looks, encoding), (row) => shown(cells.find((cell) => rowOf(cell) === row && cell.encoding === encoding)), 'outcome']),
    ], unique(cells.map(rowOf))),
    el('p', {class: 'note'}, 'Framed: not as predicted by the majority of the fitting runs. Grey: no prediction, under 3 fitting runs, or a tie.')];
};

const ruleTable = (rule, its) => {
  const {table: cells} = its;
  return el('div', {},
    table(`Rule: ${rule}`, [
      ['', ([name]) => name],
      ['observed: yes', ([, yes]) => String(yes), 'number'],
      ['observed: no', ([, , no]) => String(no), 'number'],
    ], [['predicted: yes', cells.yes_yes, cells.yes_no], ['predicted: no', cells.no_yes, cells.no_no]]),
    el('p', {class: 'note'}, `Agreement ${number(its.agreement)}, Fisher's exact test p = ${chance(its.fisher_p)}; `
      + `not observed ${cells.not_observed}, without a prediction ${cells.no_prediction}.`),
    its.misclassified.length ? el('ul', {}, ...its.misclassified.map((name) => el('li', {}, name))) : null);
};

const cellRow = (cell, trial, looks) => opening([
  el('span', {},
    el('span', {class: 'id'}, cellName(cell, looks)),
    el('span', {class: 'marks'}, el('span', {class: `mark ${JUDGED[cell.verdict] || 'open'}`}, cell.verdict),
      cell.size === trial.main.size ? '' : ` · ${sizeWords(cell.size)}`)),
  el('span', {class: 'said'}, `${expected(cell)}; ${generalizing(cell.generalizes_given_fit)}`),
], () => [
  cell.findings.length && el('ul', {}, ...cell.findings.map((one) => el('li', {}, one))),
  pairs(
    ['Forecast', forecastWords(cell)],
    ['Predicted', yes(cell.predicted)], ['Literal reading', yes(cell.literal)], ['Observed', yes(cell.observed)],
    ['Reason', cell.why],
    ['Runs that fit', share(cell.fit)], ['Generalize, of these', share(cell.generalizes_given_fit)], ['Generalize, of all', share(cell.generalizes)],
    ['Breaks at', `predicted ${cell.breaks[0] === null ? 'never' : number(cell.breaks[0])}, observed ${cell.breaks[1] === null ? 'never' : number(cell.breaks[1])}`],
    ['e-value', `${number(cell.e_against)} against the prediction, ${number(cell.e_for)} for it`],
    ['Model', sizeWords(cell.size)],
    !cell.before && ['Note', 'not predicted before training']),
].filter(Boolean));

const startVerdicts = () => {
  const {trials, looks} = data('trials');
  const place = byId('verdict-list');
  if (!trials.length) place.append(el('p', {}, 'Nothing was judged. This command judges the forecasts for a task: lengthgen conjecture my_task.py:name.'));
  const order = (cell) => (cell.verdict === 'refuted' ? 0 : wrong(cell) ? 1 : known(cell) ? 2 : 3);
  const headings = new Map();
  for (const trial of trials) {
    const heading = el('h3', {id: `protocol-${trial.name}`, tabindex: -1}, trial.title === trial.name ? trial.name : `${trial.name}: ${trial.title}`);
    const rows = el('div', {class: 'list names'});
    headings.set(trial.name, heading);
    place.append(
      heading,
      el('p', {class: 'conclusion'}, ...conclusionOf(trial, looks)),
      ...outcomeTable(trial, looks),
      rows,
      opening(['The rules, counted'], () => [el('div', {class: 'beside'}, ...Object.entries(trial.rules).map(([rule, its]) => ruleTable(rule, its)))]),
      el('p', {class: 'note'}, `${trial.source ? `${trial.source}. ` : ''}Models of ${sizeWords(trial.main.size)} (${trial.main.size}), checkpoint ${trial.main.checkpoint}; a scale is solved if its exact match is at least ${trial.main.threshold}. `
        + `Level ${number(trial.alpha)} by e-values and e-BH over the cells, at which a cell needs at least ${plural(trial.unanimous_runs, 'fitting run')} that agree. In brackets: exact ${number(100 * trial.confidence)} % intervals.`));
    lazyList(rows, (cell) => cellRow(cell, trial, looks)).show([...trial.cells].sort((a, b) => order(a) - order(b)));
  }
  return {reach: (name) => {
    const heading = headings.get(name);
    if (!heading) return false;
    heading.scrollIntoView();
    heading.focus({preventScroll: true});
    return true;
  }};
};
