// The verdict view: what the runs of random tasks say of each rule.

// The registered half of the tasks judges; the other parts are shown folded, and conclude nothing.
const PARTS = {judgement: 'On the half of the tasks that judges', amendment: 'On the half for amendments', all: 'On all tasks'};
const pairsOf = (its, part) => its.pairs.filter((pair) => pair.part === part);
const pairWords = (pair) => `${pair.better} is better than ${pair.better === pair.first ? pair.second : pair.first}`;
const pairTable = (caption, pairs) => table(caption, [
  ['rule', (pair) => pair.first, 'name'],
  ['against', (pair) => pair.second],
  ['better', (pair) => el('span', {class: `mark ${pair.better === 'undecided' ? 'open' : 'good'}`}, pair.better)],
  ['e for the first', (pair) => chance(pair.evidence[0]), 'number'],
  ['e for the second', (pair) => chance(pair.evidence[1]), 'number'],
  ['tasks', (pair) => String(pair.tasks), 'number'],
  ['cells', (pair) => String(pair.cells), 'number'],
], pairs);
const AFFIRMED = {
  majority: 'most fitting runs generalize',
  nearly_all: 'nearly all fitting runs generalize',
  possible: 'some fitting runs generalize',
};

const verdictConclusion = (its) => {
  const decided = pairsOf(its, 'judgement').filter((pair) => pair.better !== 'undecided');
  return [
    el('b', {}, decided.length ? `${decided.map(pairWords).join('; ')}.` : 'On the half of the tasks that judges, no rule is better than another yet.'),
    ` ${its.runs} runs of ${its.seen} of ${its.cells} cells; ${its.counting} cells have enough fitting runs to count.`];
};

const startVerdict = () => {
  const its = data('verdict'), place = byId('verdict-body');
  if (!its.pairs) {
    place.append(el('p', {}, 'No runs of random tasks are stored. This command says how to train them: lengthgen verdict random-tasks --out out/verdict.'));
    return {};
  }
  place.append(
    el('p', {class: 'conclusion'}, ...verdictConclusion(its)),
    el('p', {}, `${its.title} ${its.tasks} tasks, trained on scales ${its.train.join('–')}, tested to ${its.test[its.test.length - 1]}. All rules answered before the first run.`),
    pairTable(PARTS.judgement, pairsOf(its, 'judgement')),
    ...['amendment', 'all'].map((part) => opening([`${PARTS[part]} (not what was registered)`], () => [pairTable(PARTS[part], pairsOf(its, part))])),
    el('p', {class: 'note'}, `Cells on which both rules say the same do not count. An e-value of ${number(1 / its.alpha)} decides a pair alone; e-BH decides them together.`),
    el('h3', {}, 'Where cells break'),
    table('First failure at the scale that a rule expects', [
      ['rule', (row) => row.name, 'name'],
      ['cells', (row) => String(row.cells), 'number'],
      ['exactly there', (row) => `${row.exact} [${number(row.range[0], 2)}, ${number(row.range[1], 2)}]`, 'number'],
      ['within one', (row) => String(row.within_one), 'number'],
    ], its.breaking),
    el('h3', {}, 'Answers'),
    table('Answers that were right, over the cells of the sample that count', [
      ['rule', (row) => row.name, 'name'],
      ...['right_yes', 'wrong_yes', 'right_no', 'wrong_no', 'abstains'].map((key) => [key.replace('_', ' '), (row) => String(row[key]), 'number']),
      ['Brier', (row) => number(row.brier), 'number'],
    ], [...its.rules].sort((a, b) => a.brier - b.brier)),
    el('h3', {}, 'Single cells'),
    el('ul', {}, ...Object.entries(its.decided).map(([name, counts]) =>
      el('li', {}, `${AFFIRMED[name] || name}: affirmed for ${counts.yes} cells, denied for ${counts.no}, undecided for ${counts.undecided}`))),
    opening(['The questions that were registered'], () => [el('ul', {}, ...its.questions.map((question) => el('li', {}, question)))]),
    el('p', {class: 'note'}, `Hash of the frozen answers: ${its.frozen}.`));
  return {};
};
