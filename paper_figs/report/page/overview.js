// The overview: what was found. Refuted and corrected claims first, then predictions against runs, then the theories.

const FEW = 6;

const foundClaims = () => {
  const wrongOnes = ['refuted', 'corrected'];
  const claims = data('claims').filter(({verdict}) => wrongOnes.includes(verdict))
    .sort((a, b) => wrongOnes.indexOf(a.verdict) - wrongOnes.indexOf(b.verdict));
  if (!claims.length) return [];
  const item = (claim) => el('li', {}, verdictMark(claim.verdict), ' ', el('a', {href: `#claims/${encodeURIComponent(claim.id)}`}, claim.id),
    ` ${claim.paper}: ${claim.statement}`);
  const counts = wrongOnes.map((verdict) => [claims.filter((claim) => claim.verdict === verdict).length, verdict]).filter(([count]) => count);
  const rest = claims.slice(FEW);
  return [
    el('h3', {}, 'Statements of papers that are wrong as printed'),
    el('p', {class: 'conclusion'}, ...counts.flatMap(([count, verdict], index) => [index ? ', ' : '',
      el('a', {href: addressOf('claims', {verdict})}, `${plural(count, 'claim')} ${verdict}`)]), '; a corrected claim is stated anew, and that holds.'),
    el('ul', {class: 'found'}, ...claims.slice(0, FEW).map(item)),
    rest.length ? opening([`${rest.length} more`], () => [el('ul', {class: 'found'}, ...rest.map(item))]) : null,
  ];
};

const foundRuns = () => {
  const {trials: stored, looks} = data('trials');
  if (!stored.length) return [];
  const weight = (trial) => mainCells(trial).filter((cell) => cell.verdict === 'refuted').length;
  const trials = [...stored].sort((a, b) => weight(b) - weight(a)); // refuted predictions first
  const cells = trials.flatMap((trial) => mainCells(trial).map((cell) => ({...cell, trial})));
  const strongest = (of, key) => cells.filter((cell) => of(cell) && cell[key] !== null).sort((a, b) => b[key] - a[key]).slice(0, 3);
  const item = (key) => (cell) => el('li', {}, el('a', {href: `#verdicts/${encodeURIComponent(cell.trial.name)}`}, cellName(cell, looks)),
    `: ${expected(cell)}; ${generalizing(cell.generalizes_given_fit)} (e = ${chance(cell[key])})`);
  const best = strongest((cell) => known(cell) && !wrong(cell), 'e_for'), worst = strongest(wrong, 'e_against');
  return [
    el('h3', {}, 'Predictions against trained models'),
    ...trials.flatMap((trial) => [
      el('p', {class: 'conclusion'}, el('a', {href: `#verdicts/${encodeURIComponent(trial.name)}`}, trial.name), ': ', ...conclusionOf(trial, looks)),
      ...(trials.length === 1 ? outcomeTable(trial, looks) : [opening([`Cells of ${trial.name}`], () => outcomeTable(trial, looks))])]),
    worst.length ? el('h4', {}, 'Strongest evidence against a prediction') : null,
    worst.length ? el('ul', {}, ...worst.map(item('e_against'))) : null,
    best.length ? el('h4', {}, 'Strongest evidence for a prediction') : null,
    best.length ? el('ul', {}, ...best.map(item('e_for'))) : null,
  ];
};

const foundTheories = () => {
  const {scores} = data('court'), its = data('verdict'), parts = [];
  if (scores.length) {
    const names = (verdict) => scores.filter((row) => row.verdict === verdict && row.kind === 'theory').map(({name}) => name).join(', ') || 'none';
    parts.push(el('p', {class: 'conclusion'}, el('a', {href: '#court'}, 'Published results'), ': better than the base rate are ', el('b', {}, names('supported')),
      '; worse ', el('b', {}, names('refuted')), '.'));
  }
  if (its.pairs) parts.push(el('p', {class: 'conclusion'}, el('a', {href: '#verdict'}, 'Random tasks'), ': ', ...verdictConclusion(its)));
  return parts.length ? [el('h3', {}, 'Theories against evidence'), ...parts] : [];
};

const startOverview = () => {
  const found = [...foundClaims(), ...foundRuns(), ...foundTheories()].filter(Boolean);
  byId('found').append(...(found.length ? found : [el('p', {}, 'Nothing is decided in this folder yet. The commands below make results.')]));
  return {};
};
