import { promptLimits, type RenderedPrompt } from '../../contracts/knowledge/prompt';

/** A variable: `{{name}}`, with spaces around the name. */
const placeholder = /\{\{ {0,8}([A-Za-z_][A-Za-z0-9_.-]{0,63}) {0,8}\}\}/g;

/** The names of the variables of a prompt, each once, in the order in which they come first. */
export const variablesOf = (content: string): string[] => [
  ...new Set([...content.matchAll(placeholder)].map(([, name = '']) => name)),
];

/**
 * A prompt with values in it, in one pass: a value is text, whatever is in it, and a variable without a value stays as it is.
 *
 * @returns `undefined` when the result would be longer than a rendered prompt may be
 */
export function renderPrompt(
  content: string,
  values: Readonly<Record<string, string | number | boolean>>,
): RenderedPrompt | undefined {
  const texts = new Map(Object.entries(values).map(([name, value]) => [name, String(value)]));
  const variables = variablesOf(content);
  const unmatchedVariables = variables.filter((name) => !texts.has(name));
  const unusedVariables = [...texts.keys()].filter((name) => !variables.includes(name));
  let length = content.length;
  for (const [found, name = ''] of content.matchAll(placeholder)) {
    length += (texts.get(name) ?? found).length - found.length;
  }
  if (length > promptLimits.rendered) {
    return undefined;
  }
  const rendered = content.replace(placeholder, (found, name: string) => texts.get(name) ?? found);
  return { renderedPrompt: rendered, unmatchedVariables, unusedVariables };
}
