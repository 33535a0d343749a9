// The court view: scores of theories, and their answers to each published cell.

const SCORED = {supported: 'good', refuted: 'bad'};
const says = (probability) => (probability === null ? 'abstains' : probability > 0.5 ? `yes, ${number(probability)}` : `no, ${number(probability)}`);
const observed = (cell) => (cell.fit ? `${cell.generalizes} of ${cell.fit} fitting runs generalize` : 'no run fits');

const courtRow = (cell) => opening([
  el('span', {}, el('span', {class: 'id'}, cell.name), cell.disputed && el('span', {class: 'marks'}, 'disputed')),
  el('span', {class: 'said'}, observed(cell)),
], () => [table('Answers', [
  ['theory', ([name]) => name, 'name'],
  ['says', ([, probability]) => says(probability)],
  ['reason', ([, , reason]) => reason, 'words'],
], cell.answers)]);

const startCourt = () => {
  const {scores, cells, frozen, threshold} = data('court');
  const place = byId('court-scores');
  if (!scores.length) {
    place.append(el('p', {}, 'No theory was scored. This command scores them: lengthgen court.'));
    return {};
  }
  const judged = (verdict) => scores.filter((row) => row.verdict === verdict && row.kind === 'theory').map(({name}) => name).join(', ') || 'none';
  place.append(
    el('p', {class: 'conclusion'}, 'Better than the base rate: ', el('b', {}, judged('supported')), '. Worse: ', el('b', {}, judged('refuted')),
      `. Undecided: ${judged('undecided')}.`),
    table('Scores', [
      ['theory', (row) => row.name, 'name'],
      ['', (row) => (row.kind === 'theory' ? '' : row.kind)],
      ['answers', (row) => String(row.answered), 'number'],
      ['right', (row) => number(row.right_yes === null ? null : row.right_yes + row.right_no), 'number'],
      ['wrong yes', (row) => number(row.wrong_yes), 'number'],
      ['wrong no', (row) => number(row.wrong_no), 'number'],
      ['Brier', (row) => number(row.brier), 'number'],
      ['to base rate', (row) => (row.against ? `${number(row.against[0])} [${number(row.against[1])}, ${number(row.against[2])}]` : '–'), 'number'],
      ['verdict', (row) => el('span', {class: `mark ${SCORED[row.verdict] || 'open'}`}, row.verdict)],
    ], scores),
    opening(['What each theory says'], () => [pairs(...scores.filter((row) => row.says).map((row) => [row.name, row.says]))]),
    el('p', {class: 'note'}, `A length is solved from ${number(100 * threshold)} % on. Answers were frozen before any outcome was read: ${frozen}.`));
  const search = byId('court-search'), evidence = byId('court-evidence'), disputed = byId('court-disputed');
  counted(evidence, cells, (cell) => cell.evidence);
  const list = lazyList(byId('court-list'), courtRow);
  const filter = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const chosen = cells.filter((cell) => (!evidence.value || cell.evidence === evidence.value)
      && (!disputed.checked || cell.disputed) && words.every((word) => cell.name.toLowerCase().includes(word)));
    byId('court-count').textContent = `${chosen.length} of ${plural(cells.length, 'cell')}`;
    list.show(chosen);
  };
  return {filter: filtersInAddress('court', {search, evidence, disputed}, filter)};
};
