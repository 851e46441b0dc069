/** `{{name}}`, `{{steps.plan.output}}`, or a part of one that is JSON: `{{steps.plan.output.score}}`. */
const placeholder = /\{\{\s*(steps\.[A-Za-z0-9_.-]{1,200}|[a-z][a-z0-9_.-]{0,100})\s*\}\}/g;
const ofStep = /^steps\.([a-z][a-z0-9_-]*)\.(output|answer)((?:\.[A-Za-z0-9_-]+)*)$/;

/** What the values of a run are called that a definition calls otherwise; `undefined` for what is no value of a step. */
export function stepValue(
  name: string,
): { step: string; kind: 'output' | 'answer'; /** What leads to a part of it. */ path: string[] } | undefined {
  const [, step, kind, path = ''] = ofStep.exec(name) ?? [];
  return step === undefined ? undefined : { step, kind: kind as 'output' | 'answer', path: path.split('.').slice(1) };
}

/** The names that a template refers to. */
export const placeholdersOf = (template: string): string[] =>
  [...template.matchAll(placeholder)].map(([, name = '']) => name);

const escaped = (text: string): string => text.replaceAll('$', () => '$$');

/**
 * A template in the language of graphs: names become `${name}`, every other dollar sign is one.
 *
 * @param items values that are part of the graph and not of the run: the item of a loop
 */
export function graphText(template: string, items: Readonly<Record<string, string>> = {}): string {
  let text = '';
  let at = 0;
  for (const match of template.matchAll(placeholder)) {
    const [whole, name = ''] = match;
    const of = stepValue(name);
    const value = Object.hasOwn(items, name)
      ? escaped(items[name] ?? '')
      : `\${${of ? [`${of.step}_${of.kind}`, ...of.path].join('.') : name}}`;
    text += escaped(template.slice(at, match.index)) + value;
    at = match.index + whole.length;
  }
  return text + escaped(template.slice(at));
}
