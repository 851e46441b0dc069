import { createLog, type Log } from '../../platform/log/log';

/** Errors of the code itself, and not of what it works with. */
const ownErrors = new Set(['TypeError', 'RangeError', 'ReferenceError']);
/** What Node's `fetch` throws when a connection fails. */
const ofConnections = /^(?:fetch failed|terminated)\b/;

interface Line {
  level: string;
  msg?: string;
  err?: { type?: string; message?: string; stack?: string };
}

const isOwnError = ({ err }: Line): boolean =>
  ownErrors.has(err?.type ?? '') && !ofConnections.test(err?.message ?? '');

export interface WatchedLog {
  log: Log;
  /** @throws Error with the errors of the code itself that were logged, as warnings or worse: what the service survives is seen nowhere else */
  assertSound: () => void;
}

/** The log of a service in this process. @param shown the least level that is printed */
export function watchedLog(shown: string): WatchedLog {
  const found: string[] = [];
  const levels = createLog({ name: 'test', level: shown });
  const write = (text: string): void => {
    const line = JSON.parse(text) as Line;
    if (isOwnError(line)) {
      found.push(`${line.msg}: ${line.err?.stack ?? line.err?.message}`);
    }
    if (levels.isLevelEnabled(line.level)) {
      process.stdout.write(text);
    }
  };
  const level = levels.isLevelEnabled('warn') ? shown : 'warn';
  return {
    log: createLog({ name: 'test', level }, { write }),
    assertSound: () => {
      if (found.length > 0) {
        throw new Error(`The log has errors of the code itself:\n${found.join('\n')}`);
      }
    },
  };
}
