import { tokensOf } from '../../../../platform/models/tokens';
import { cut } from '../../../../platform/text/cut';
import type { Guidance } from './messages';

const heading = '\n\nGuidance given since the run began:\n';
const leftOut = '- (Earlier guidance is left out: the model has no more room.)';
const ellipsis = '…';

function lineOf({ text, file, line }: Guidance): string {
  const place = file === undefined ? '' : ` (${file}${line === undefined ? '' : `:${line}`})`;
  return `- ${text}${place}`;
}

/**
 * A prompt with the users' guidance since the run began: all of it that the model has room for, the latest first. A prompt that
 * fills the model by itself stays as it is.
 *
 * @param room in tokens, for the prompt and its guidance
 */
export function withGuidance(prompt: string, guidance: readonly Guidance[], room: number): string {
  let left = room - tokensOf(prompt) - tokensOf(heading);
  const lines: string[] = [];
  for (const each of [...guidance].reverse()) {
    const line = lineOf(each);
    const tokens = tokensOf(`${line}\n`);
    const reserved = lines.length + 1 < guidance.length ? tokensOf(`${leftOut}\n`) : 0;
    if (tokens + reserved > left) {
      const shortened = lines.length === 0 ? cutTo(line, left - tokensOf(`${leftOut}\n`)) : '';
      if (shortened === '' && lines.length === 0) {
        return prompt;
      }
      lines.unshift(
        ...(guidance.length > 1 || shortened === '' ? [leftOut] : []),
        ...(shortened === '' ? [] : [shortened]),
      );
      break;
    }
    left -= tokens;
    lines.unshift(line);
  }
  return lines.length === 0 ? prompt : `${prompt}${heading}${lines.join('\n')}`;
}

/** The beginning of a line that has at most so many tokens; nothing where that is hardly a word. */
function cutTo(line: string, tokens: number): string {
  const least = 20;
  let length = Math.min(line.length, tokens * 3);
  while (length > 0 && tokensOf(cut(line, length) + ellipsis) > tokens) {
    length = Math.floor(length * 0.9);
  }
  return length < least ? '' : `${cut(line, length)}${ellipsis}`;
}
