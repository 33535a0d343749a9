// The overview: the reader's cells first, then refuted and corrected claims, then the theories.

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
  byId('found').append(...[...foundCells(), ...foundClaims(), ...foundTheories()].filter(Boolean));
  return {};
};
