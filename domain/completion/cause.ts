import type { CompletionResult } from '../../contracts/runs/completion';
import { maxCauseLength } from '../../contracts/tasks/task';
import { cut } from '../../platform/text/cut';
import { printable } from '../../platform/text/printable';

type Ended = Pick<CompletionResult, 'status' | 'summary' | 'error' | 'downgrades' | 'blockers'>;

/** What programs put before the reason they end for: languages' names of errors, and those of tools. */
const reason =
  /^\s*(?:Uncaught\s+)?(?:(?:[\w.]*(?:Error|Exception))(?:\s*\[\w+\])?:\s|error:\s|fatal:\s|panic:\s|Authentication required)/i;

/** The name that every error of JavaScript has. */
const plainName = /^(?:Uncaught\s+)?Error(?:\s*\[\w+\])?:\s+/;

/** Lines that lead nowhere: frames of a stack, the source and its marker, the version of the runtime. */
const noise = /^\s*(?:at\s|\^+\s*$|Node\.js v|throw\s|node:\S+:\d+$|File ")/;

/**
 * Why a run did not succeed, in one line for its task: the shortfall of a claimed success, what blocks it, or the line of its
 * error that is most specific. Nothing of one that succeeded or that was stopped.
 */
export function causeOf({ status, summary, error, downgrades, blockers }: Ended): string | undefined {
  switch (status) {
    case 'success':
    case 'interrupted':
      return undefined;
    case 'partial':
      return inOneLine(downgrades[0]?.message ?? blockers?.[0]?.summary ?? error ?? summary);
    case 'blocked':
      return inOneLine(blockers?.[0]?.summary ?? error ?? summary);
    case 'failed':
      return inOneLine(reasonLine(error) ?? blockers?.[0]?.summary ?? summary);
  }
}

/** The line of an error that names its reason; the last one that is not of a stack when none does. */
function reasonLine(error = ''): string | undefined {
  const [how = '', output] = error.split(/ Its last words: /, 2);
  if (output === undefined) {
    return how === '' ? undefined : how;
  }
  const lines = output.split('\n').filter((line) => line.trim() !== '' && !noise.test(line));
  const line = lines.find((each) => reason.test(each)) ?? lines.at(-1);
  return line === undefined ? how : line.trim().replace(plainName, '');
}

/** Without line breaks and what else a terminal or a page would obey, and cut. */
function inOneLine(text: string): string | undefined {
  const line = printable(text).replace(/\s+/g, ' ').trim();
  if (line === '') {
    return undefined;
  }
  return line.length <= maxCauseLength ? line : `${cut(line, maxCauseLength - 1)}…`;
}
