// The claims view: a list of all claims with search and filters.

const VERDICTS = {verified: ['good', '✓'], corrected: ['amended', '✎'], refuted: ['bad', '✗'], unsettled: ['open', '?'], 'not run': ['open', '·']};
const STRENGTHS = ['formal', 'general', 'bounded', 'exhaustive', 'interval', 'numeric', 'statistical', ''];
const ORIGINS = {
  cache: 'settled by the present code',
  stored: 'read from the claims.json of lengthgen reproduce; not checked again with the present code (run lengthgen verify)',
  runs: 'decided from the stored runs when this page was made',
};

const verdictMark = (verdict) => {
  const [kind, sign] = VERDICTS[verdict] || ['open', '?'];
  return el('span', {class: `mark ${kind}`}, `${sign} ${verdict}`);
};

const claimRow = (claim) => opening([
  el('span', {},
    el('span', {class: 'id'}, claim.id),
    el('span', {class: 'marks'}, verdictMark(claim.verdict), claim.mark && ` · ${claim.mark}`, ` · ${claim.label}`)),
  el('span', {class: 'said'}, claim.statement),
], () => [
  claim.reason && el('p', {class: 'conclusion'}, el('b', {}, claim.verdict === 'corrected' || claim.verdict === 'refuted' ? 'Why it fails as printed: ' : 'Reason: '), claim.reason),
  el('div', {class: 'formula'}, claim.math ? formula(claim.math) : el('code', {}, claim.latex)),
  claim.verdict === 'not run' && el('p', {}, 'Not settled on this machine: ', el('code', {}, `lengthgen verify ${claim.id}`)),
  claim.assumptions.length && el('p', {}, el('b', {}, 'Assumptions: '), claim.assumptions.join('; ')),
  claim.facts.length && opening([`Evidence (${plural(claim.facts.length, 'fact')})`], () => [
    el('ul', {}, ...claim.facts.map((fact) => el('li', {}, fact)))]),
  claim.falsifiers.length && opening([`Falsifiers (${claim.falsifiers.filter(([, rejected]) => rejected).length} of ${claim.falsifiers.length} rejected)`], () => [
    el('ul', {}, ...claim.falsifiers.map(([name, rejected, reason]) =>
      el('li', {}, el('b', {}, name), ': ', el('span', {class: `mark ${rejected ? 'good' : 'bad'}`}, rejected ? '✓ rejected' : '✗ not rejected'),
        reason && `: ${reason}`)))]),
  pairs(
    ['Paper', `${claim.paper}, `, el('a', {href: `https://arxiv.org/abs/${encodeURIComponent(claim.arxiv)}`, rel: 'noreferrer'}, `arXiv ${claim.arxiv}`)],
    ['Place', claim.place],
    claim.seconds !== null && ['Seconds', number(claim.seconds, 2)],
    ['Result', ORIGINS[claim.origin] || ''],
    claim.math && ['LaTeX', el('code', {}, claim.latex)]),
].filter(Boolean), {'data-claim': claim.id});

const haystack = (claim) => [claim.id, claim.statement, claim.paper, claim.arxiv, claim.place, claim.latex, claim.reason,
  ...claim.facts, ...claim.assumptions, ...claim.falsifiers.flatMap(([name, , reason]) => [name, reason])].join('\n').toLowerCase();

const startClaims = () => {
  const every = data('claims'), places = unique(every.map((claim) => claim.paper));
  const parts = unique(every.map((claim) => claim.part));
  const place = (claim) => parts.indexOf(claim.part) * places.length + places.indexOf(claim.paper);
  const claims = [...every].sort((a, b) => place(a) - place(b));
  const search = byId('claim-search'), paper = byId('claim-paper'), verdict = byId('claim-verdict'), strength = byId('claim-strength');
  const titles = new Map(claims.map((claim) => [claim.arxiv, claim.paper]).reverse());
  const order = unique(claims.map((claim) => claim.arxiv));
  counted(paper, claims, (claim) => claim.arxiv, (id) => `${titles.get(id)}`, order);
  counted(verdict, claims, (claim) => claim.verdict, undefined, Object.keys(VERDICTS));
  const marks = new Map(claims.map((claim) => [claim.strength, claim.mark]));
  counted(strength, claims, (claim) => claim.strength, (name) => marks.get(name) || 'none', STRENGTHS);
  strength.querySelectorAll('option').forEach((option, index) => { if (index && !option.value) option.value = 'none'; });
  const hay = new Map(), inPart = new Map();
  const list = lazyList(byId('claim-list'), claimRow, ({part, paper: name, arxiv}) => `${part} (${inPart.get(part)}): ${name}${arxiv && ` (arXiv ${arxiv})`}`);
  const filter = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = claims.filter((claim) => {
      if (paper.value && claim.arxiv !== paper.value) return false;
      if (verdict.value && claim.verdict !== verdict.value) return false;
      if (strength.value && (claim.strength || 'none') !== strength.value) return false;
      if (words.length && !hay.has(claim)) hay.set(claim, haystack(claim));
      return words.every((word) => hay.get(claim).includes(word));
    });
    byId('claim-count').textContent = `${found.length} of ${plural(claims.length, 'claim')}`;
    for (const part of parts) inPart.set(part, found.filter((claim) => claim.part === part).length);
    list.show(found);
  };
  const read = filtersInAddress('claims', {search, paper, verdict, strength}, filter);
  const reach = (id) => {
    const claim = claims.find((one) => one.id === id);
    if (!claim) { read(); return false; }
    search.value = paper.value = verdict.value = strength.value = '';
    filter();
    const row = list.reach(claim);
    row.open = true;
    row.scrollIntoView();
    row.querySelector('summary').focus({preventScroll: true});
    return true;
  };
  return {reach, filter: read};
};
