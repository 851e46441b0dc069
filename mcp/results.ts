import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { BoardError, refusalText } from '../clients/typescript/src';

/** The most characters of one text within a result, and of the whole. */
export const resultLimits = { text: 4_000, whole: 40_000 };

/** A value as a model reads it: long texts are cut, and state so. */
export function cut(value: unknown): unknown {
  if (typeof value === 'string') {
    return value.length <= resultLimits.text
      ? value
      : `${value.slice(0, resultLimits.text)}… (cut: ${value.length} characters)`;
  }
  if (Array.isArray(value)) {
    return value.map(cut);
  }
  return typeof value === 'object' && value !== null
    ? Object.fromEntries(Object.entries(value).map(([name, part]) => [name, cut(part)]))
    : value;
}

const textResult = (text: string, isError: boolean): CallToolResult => ({ content: [{ type: 'text', text }], isError });

/** What a tool returns; one that is too long for a model is an error, with what to ask for instead. */
export function resultOf(value: unknown): CallToolResult {
  const text = JSON.stringify(cut(value));
  return text.length <= resultLimits.whole
    ? textResult(text, false)
    : textResult(`The result has ${text.length} characters: ask for less with a smaller limit.`, true);
}

/** What the board refused, so that the model reads why and what to do next. @throws the error itself when it is another */
export function refusalResult(error: unknown): CallToolResult {
  if (!(error instanceof BoardError)) {
    throw error;
  }
  const { message, remedy } = refusalText(error);
  return textResult([`${error.code ?? error.status}: ${message}`, ...(remedy ? [remedy] : [])].join('\n'), true);
}
