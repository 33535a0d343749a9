// The runs view: curves of one task, format and model, and the list of all runs.

// Encodings selected at first if a panel has more than a reader can follow.
const FIRST = ['ipe', 'ipe-sh', 'rpe', 'ape', 'nope', 'rope'];
// What the short names of model sizes mean: w64l2h4 has width 64, 2 layers, 4 heads.
const sizeWords = (size) => size.replace(/^w(\d+)l(\d+)h(\d+)$/, 'width $1, layers $2, heads $3');
const sizeLegend = (sizes) => `Model sizes: ${unique(sizes).map((size) => `${size} is ${sizeWords(size)}`).join('; ')}.`;
const rank = ({group}) => (FIRST.includes(group.encoding) ? FIRST.indexOf(group.encoding) : FIRST.length);

const startRuns = () => {
  const {groups, environments, runs, looks} = data('runs');
  const place = byId('run-panel');
  const labelled = (encoding) => looks[encoding].label;
  if (!runs.length) place.append(el('p', {}, 'No runs are stored. This command trains some, and says what to expect: lengthgen conjecture my_task.py:name.'));

  // A panel holds curves that can be compared: one task, format and model, with equal training and test settings.
  const panels = new Map();
  for (const run of runs.filter((one) => one.exact)) {
    const group = groups[run.group], key = JSON.stringify([group.task, group.format, group.size, group.setting, group.threshold]);
    if (!panels.has(key)) panels.set(key, new Map());
    const curves = panels.get(key), curve = JSON.stringify([group.encoding, group.digest]);
    if (!curves.has(curve)) curves.set(curve, {label: labelled(group.encoding), look: looks[group.encoding], group, runs: []});
    curves.get(curve).runs.push(run);
  }
  if (panels.size) {
    const keys = [...panels.keys()].sort();
    const settings = unique(keys.map((key) => JSON.parse(key)[3]));
    const select = el('select', {id: 'run-choice'}, ...settings.map((setting) => el('optgroup', {label: setting},
      ...keys.filter((key) => JSON.parse(key)[3] === setting).map((key) => el('option', {value: key}, JSON.parse(key).slice(0, 3).join(', '))))));
    const drawing = el('div', {}), legend = el('fieldset', {class: 'legend'});
    select.value = keys.reduce((best, key) => (panels.get(key).size > panels.get(best).size ? key : best));
    const draw = (curves, title) => {
      const shown = curves.filter((_, index) => legend.querySelectorAll('input')[index].checked);
      drawing.replaceChildren(...(shown.length ? [...byScale(title, shown), opening(['The values as a table'], () => [valuesTable(shown)])] : [el('p', {}, 'No encoding is selected.')]));
    };
    const choose = () => {
      const curves = [...panels.get(select.value).values()].sort((a, b) => rank(a) - rank(b));
      const title = JSON.parse(select.value).slice(0, 3).join(', ');
      curves.forEach((curve) => curve.runs.sort((a, b) => a.seed - b.seed));
      legend.replaceChildren(el('legend', {class: 'note'}, 'Encodings: median of the seeds, and each seed as a faint line; training scales are shaded'),
        ...curves.map((curve, index) => el('label', {}, el('input', {type: 'checkbox', checked: index < FIRST.length, onchange: () => draw(curves, title)}), swatch(curve.look), curve.label)),
        ...['All', 'None'].map((name) => el('button', {type: 'button', 'data-all': name, onclick: () => {
          legend.querySelectorAll('input').forEach((input) => { input.checked = name === 'All'; });
          draw(curves, title);
        }}, name)));
      draw(curves, title);
    };
    restart([select], choose);
    place.append(el('h3', {}, 'Exact match by scale'), el('p', {class: 'note'}, sizeLegend(groups.map(({size}) => size))), el('form', {class: 'filters', 'aria-label': 'Curves'}, el('label', {class: 'wide'}, 'Task, format, model', select)), legend, drawing);
    choose();
  }

  const outcome = new Map(runs.map((run) => [run, outcomeOf(run, groups[run.group])]));
  const row = (run) => {
    const group = groups[run.group], [kind, sign] = OUTCOMES[outcome.get(run)];
    const brief = run.exact
      ? `lowest in training ${number(least(run, group, true))}, beyond ${number(least(run, group, false))}`
      : `${run.done} of ${group.epochs} epochs`;
    return opening([
      el('span', {}, el('span', {class: 'id'}, `${group.task}, ${labelled(group.encoding)}`),
        el('span', {class: 'marks'}, el('span', {class: `mark ${kind}`}, `${sign} ${outcome.get(run)}`))),
      el('span', {class: 'said'}, `${group.format}, ${group.size}, seed ${run.seed}: ${brief}`),
    ], () => [
      pairs(['Run', el('code', {}, run.name)], ['Protocol', group.setting],
        run.exact && ['Trained', `${run.time || ''}, ${number(run.seconds, 1)} s, ${number(run.peak_memory_mib)} MiB at most`],
        run.exact && ['With', environmentText(environments[run.environment])],
        run.exact && ['SHA-256', el('code', {}, run.hash), ' of files.json, which holds the hashes of all files']),
      ...(run.exact ? byEpoch(run, group) : []),
    ], {'data-run': run.name});
  };
  const search = byId('run-search'), task = byId('run-task'), encoding = byId('run-encoding'), chosen = byId('run-outcome');
  counted(task, runs, (run) => groups[run.group].task);
  counted(encoding, runs, (run) => groups[run.group].encoding, labelled);
  counted(chosen, runs, (run) => outcome.get(run), undefined, Object.keys(OUTCOMES));
  const list = lazyList(byId('run-list'), row);
  const filter = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = runs.filter((run) => (!task.value || groups[run.group].task === task.value)
      && (!encoding.value || groups[run.group].encoding === encoding.value)
      && (!chosen.value || outcome.get(run) === chosen.value)
      && words.every((word) => run.name.toLowerCase().includes(word)));
    byId('run-count').textContent = `${found.length} of ${plural(runs.length, 'run')}`;
    list.show(found);
  };
  return {filter: filtersInAddress('runs', {search, task, encoding, outcome: chosen}, filter)};
};
