// The provenance view: versions, files and machines with which the page and the runs were made.

const versionsText = (versions) => Object.entries(versions || {}).map(([name, version]) => `${name} ${version}`).join(', ');
const environmentText = (one) => [`python ${one.python}`, one.machine, one.device, `revision ${one.revision}`, versionsText(one.versions)].filter(Boolean).join('; ');

const startProvenance = () => {
  const {revision, versions, out, profile, files} = data('provenance'), {environments, runs} = data('runs');
  const counts = environments.map((_, index) => runs.filter((run) => run.environment === index).length);
  byId('provenance-list').append(
    el('h3', {}, 'This page'),
    pairs(['Made from', el('code', {}, out)], ['Profile', profile], ['Source revision', el('code', {}, revision)], ['Versions', versionsText(versions)]),
    el('p', {class: 'note'}, 'Numbers are rounded to six significant digits. A revision that ends in + was changed since.'),
    el('h3', {}, 'Files'),
    files.length ? table('Files that were read', [['file', ([name]) => name], ['SHA-256', ([, hash]) => el('code', {}, hash)]], files) : el('p', {}, 'No files were read.'),
    el('h3', {}, 'Environments of the runs'),
    environments.length ? table('Environments', [
      ['runs', (one) => String(counts[environments.indexOf(one)]), 'number'],
      ['device', (one) => `${one.device}`], ['machine', (one) => `${one.machine}`], ['python', (one) => `${one.python}`],
      ['revision', (one) => el('code', {}, `${one.revision}`)], ['versions', (one) => versionsText(one.versions), 'words'],
    ], environments) : el('p', {}, 'No environments are stored.'),
    el('p', {class: 'note'}, 'Each run in the runs view shows its environment and the hash of its files.'));
};
