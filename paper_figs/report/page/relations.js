// The relations view: labels, circuit and prediction for one task, format, encoding and scale.

const relationData = (() => {
  let known;
  return () => known || (known = data('relations'));
})();

const roleOf = (one, encoding, label) => {
  const ideal = ['ipe', 'ipe-sh', 'lbpe', 'lbpe-sh'].includes(encoding);
  if (!ideal || !one.roles) return '';
  return label ? ` (the role ${one.roles[label - 1].map(([operator, slot]) => `slot ${slot} of u${operator}`).join(' and ')})` : ' (irrelevant)';
};

// What the rule coverage says of an encoding. The forecast, which is what is expected, stands above it.
const predictionTable = (one, its, file) => {
  const found = its.prediction;
  if (!found && its.why) return [el('p', {}, `The encoding has no relation here: ${its.why}.`)];
  if (!found) return [el('p', {}, 'Not computed for this page. This command gives the forecast and, with it, the answers of all rules: ', el('code', {}, `lengthgen predict ${file || one.task}`))];
  if (found.relation === null) return [el('p', {}, `No answer: ${found.why}.`)];
  const infinite = (value) => (value === 'inf' ? '∞' : number(value));
  const [kind, words] = found.generalizes ? ['good', `✓ generalizes to scale ${one.largest}`] : ['bad', `✗ breaks at scale ${found.breaks_at}`];
  return [
    el('p', {}, el('span', {class: `mark ${kind}`}, words), `, trained on scales ${one.train.join('–')}: ${found.why}.`),
    pairs(
      ['Relation', found.relation + (found.scale_hint && !found.relation.includes('scale hint') ? ', with a scale hint' : '')],
      ['Operators induced', `${infinite(found.complexity_train)} in training, ${infinite(found.complexity_test)} in the test`
        + (one.src ? `; SRC is ${srcText(one.src[one.src.length - 1])}` : '')],
      ['Labels covered', yes(found.labels_covered)],
      ['Operator entries covered', yes(found.entries_covered)],
      ['Unseen distractors', number(found.unseen_distractors)],
      ['Without coverage', `${yes(found.literal)} (our literal reading of the conjecture)`]),
    el('p', {class: 'note'}, 'SRC counts the operators of the smallest circuit, whoever wires it. An encoding induces at least as many: '
      + 'steps whose arguments have different labels under it need operators of their own.'),
    its.why ? el('p', {class: 'note'}, `No labels: ${its.why}.`) : null,
  ];
};

const startRelations = () => {
  const {found, pool, encodings} = relationData(), {slots, tasks} = data('tasks'), cells = judgedCells().flatMap((one) => one.cells);
  const [task, format, encoding, scale, step] = ['task', 'format', 'encoding', 'scale', 'step'].map((name) => byId(`relation-${name}`));
  const known = unique(found.map((one) => one.task)), order = tasks.map((one) => one.task);
  options(task, known.sort((a, b) => order.indexOf(a) - order.indexOf(b)));
  const place = byId('relation');
  const current = () => found.find((one) => one.task === task.value && one.format === format.value);

  const draw = () => {
    const one = current();
    if (!one || one.why && !one.encodings) { place.replaceChildren(el('p', {}, one ? one.why : 'Not analysed.')); return; }
    const its = one.encodings[encoding.value], at = +scale.value, instance = one.scales[at - 1];
    const title = `${task.value}, ${format.value}, ${encodings[encoding.value].label}, scale ${at}`;
    const names = instance.names || Array.from({length: instance.length}, (_, index) => String(index + 1));
    const relevant = new Map();
    for (const [position, , read] of instance.steps || []) {
      for (const [argument, slot] of read) {
        const pair = `${argument},${position - 1}`;
        relevant.set(pair, [...(relevant.get(pair) || []), slot]);
      }
    }
    const marked = instance.steps && instance.steps[+step.value - 1];
    const own = cells.find((cell) => cell.task === one.task && cell.format === one.format && cell.encoding === encoding.value);
    const pictures = [], parts = [
      ...(own ? [el('h3', {}, 'Forecast and runs'), pairs(['Forecast', forecastWords(own)], ['Generalize, of fitting runs', outcomeText(own)], ['Verdict', own.verdict])] : []),
      el('h3', {}, 'Answer of the rule coverage'), ...predictionTable(one, its, tasks.find((its) => its.task === one.task).file)];
    if (its.labels) {
      const labels = pool[its.labels[its.labels.length > 1 ? at - 1 : 0]];
      pictures.push(el('div', {}, el('h3', {}, 'Labels'), ...matrix({labels, names, relevant, slots, title,
        chosen: marked ? marked[0] - 1 : 0, describeLabel: (label) => roleOf(one, encoding.value, label)}),
      instance.steps && el('p', {class: 'note'}, 'Framed cells are arguments of a step. Arguments of the selected step have a frame in the colour of their slot.')));
    }
    pictures.push(el('div', {}, el('h3', {}, 'Circuit'), ...(instance.steps ? circuit(instance, slots, `Circuit of ${task.value}, ${format.value}, scale ${at}`, +step.value) : [el('p', {}, one.why)])));
    place.replaceChildren(...parts.filter(Boolean), el('div', {class: 'beside'}, ...pictures));
  };
  const steps = () => {
    const one = current(), instance = one && one.scales && one.scales[+scale.value - 1];
    const count = instance && instance.steps ? instance.steps.length : 0;
    options(step, Array.from({length: count}, (_, index) => index + 1), Math.min(+step.value || 2, count));
    step.disabled = !count;
    draw();
  };
  const formats = () => {
    options(format, found.filter((one) => one.task === task.value).map((one) => one.format), format.value || (cells.find((cell) => cell.task === task.value) || {format: 'unaligned'}).format);
    chosenEncodings();
  };
  const chosenEncodings = () => {
    const one = current(), names = Object.keys(encodings).filter((name) => !one || !one.encodings || name in one.encodings);
    const trained = cells.find((cell) => one && cell.task === one.task && cell.format === one.format);
    options(encoding, names.map((name) => [name, encodings[name].label]), encoding.value || (trained ? trained.encoding : 'ipe-sh'));
    steps();
  };
  options(scale, Array.from({length: Math.max(...found.map((one) => (one.scales || []).length))}, (_, index) => index + 1), 3);
  restart([task], formats);
  restart([format], chosenEncodings);
  restart([scale], steps);
  restart([encoding, step], draw);
  formats();
  return {reach: (name) => {
    if (!found.some((one) => one.task === name)) return false;
    task.value = name;
    format.replaceChildren(); // so that a format and an encoding that were trained are chosen
    encoding.replaceChildren();
    formats();
    return true;
  }};
};
