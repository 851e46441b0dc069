import { cut } from '../../../../platform/text/cut';
import { maxJsonOutput } from '../../graph/graph';
import type { MadeToolCall, ToolCallProgress, ToolEnd } from './tool-messages';

/** The part of a text that a run stores among its values, in characters. */
const storedCharacters = 8_000;
const reasonCharacters = 1_000;

type Part = { type?: unknown; text?: unknown };

/** The text of a result: its texts, and the kinds of what is none. */
export const resultText = (content: readonly unknown[]): string =>
  content
    .map((part) => {
      const { type, text } = (part ?? {}) as Part;
      return type === 'text' && typeof text === 'string' ? text : `[${typeof type === 'string' ? type : 'content'}]`;
    })
    .join('\n');

/** What a result becomes as a value of its run: JSON where the tool responded with some that is not too long, else its text. */
function outputOf({ content, structuredContent }: NonNullable<MadeToolCall['result']>): unknown {
  const isShort = structuredContent && JSON.stringify(structuredContent).length <= maxJsonOutput;
  return isShort ? structuredContent : cut(resultText(content), storedCharacters);
}

/** Where a call of the board is. */
export function progressOf({ id, state, result, error }: MadeToolCall): ToolCallProgress {
  if (state === 'requested' || state === 'dispatched') {
    return { state: 'running' };
  }
  return { state: 'ended', end: { ...endOf({ state, result, error }), callId: id } };
}

function endOf({ state, result, error }: Pick<MadeToolCall, 'state' | 'result' | 'error'>): ToolEnd {
  if (state === 'completed' && result) {
    const output = outputOf(result);
    return result.isError
      ? { status: 'error', output, reason: cut(resultText(result.content), reasonCharacters) }
      : { status: 'completed', output };
  }
  const reason = cut(`${error?.message ?? 'It has no response.'} ${error?.remedy ?? ''}`.trim(), reasonCharacters);
  return { status: state === 'failed' ? 'failed' : 'unknown', reason };
}

/** A call that may not be made so. */
export const refusedCall = (code: string, message: string): ToolCallProgress => ({
  state: 'ended',
  end: { status: 'refused', reason: cut(`${code}: ${message}`, reasonCharacters) },
});
