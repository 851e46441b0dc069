import { fork } from 'node:child_process';
import { extname, join } from 'node:path';
import { storableText } from '../../../platform/text/well-formed';
import { refuse } from '../http/errors';
import type { AnswerLimits, Cell } from './cells';
import type { Found, Outcome, Question, TableText } from './messages';
import { namedColumns, namedTables } from './named';
import type { Snapshot } from './snapshot';
import { assertOneQuery, InvalidQueryError } from './statement';
import type { Row } from './table-rows';
import { columnsOf, type TableName } from './tables';

export interface RunnerLimits extends AnswerLimits {
  /** From the start of its process on. */
  timeMs: number;
  /** Queries that run at a time, and that wait for their turn. */
  atATime: number;
  waiting: number;
}

/** Memory of JavaScript in the process, which has the tables and the result as texts. */
const maxHeapMb = 256;
/** How much later than it is ended a process would end itself. */
const graceMs = 1_000;
/** What is read of the messages of a process that ended by itself. */
const maxMessages = 20_000;

/** Run from its sources, as in tests, there is no compiled script beside this one: it is what the build has left. */
const folder =
  extname(__filename) === '.ts'
    ? join(__dirname, '..', '..', '..', 'dist', 'services', 'workflow-runs', 'insights')
    : __dirname;
const script = join(folder, 'query-process.js');

/** Its process knows nothing of ours: no settings, no open files, no secrets. */
function ask(question: Question, timeMs: number): Promise<Outcome> {
  const child = fork(script, {
    cwd: '/',
    env: {},
    execArgv: [`--max-old-space-size=${maxHeapMb}`],
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  return new Promise<Outcome>((resolve, reject) => {
    let outcome: Outcome | undefined;
    let messages = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      messages = (messages + text).slice(0, maxMessages);
    });
    const timer = setTimeout(() => {
      outcome = { refused: `The query took longer than ${timeMs / 1000} s.` };
      child.kill('SIGKILL');
    }, timeMs);
    child.on('message', (message: Outcome) => (outcome ??= message));
    // Unlike `exit`, this comes after all of its messages.
    child.once('error', reject).once('close', (code, signal) => {
      clearTimeout(timer);
      if (outcome) {
        resolve(outcome);
      } else if (signal) {
        resolve({ refused: reasonOf(messages) });
      } else {
        reject(new Error(`The process of a query ended with ${code ?? 'nothing'} and without a result.`));
      }
    });
    // That it could not be sent shows in the process having ended.
    child.send(question, () => undefined);
  });
}

/** The library ends its process over a text that is not UTF-8, which SQL can make: `cast(x'ff' as text)`. */
const reasonOf = (messages: string): string =>
  messages.includes('Utf8Error')
    ? 'The response has a text that is not valid UTF-8; select hex() of it.'
    : 'The query ended its process; it may need too much memory.';

/** Models may answer with NUL, at which SQLite's texts end, and with halves of characters, which are not UTF-8. */
const readable = (cell: Cell | undefined): Cell | undefined => (typeof cell === 'string' ? storableText(cell) : cell);

/** Sending and loading columns that a query does not read took most of its time. */
function textOf(sql: string, name: TableName, rows: readonly Row[]): TableText {
  const read = namedColumns(sql, name);
  const all = columnsOf(name);
  const columns = read.map((at) => all[at] ?? '');
  return { name, columns, rows: JSON.stringify(rows.map((row) => read.map((at) => readable(row[at])))) };
}

/** What is no query is not worth a process. @throws AppError 400 */
function assertWorthAsking(sql: string): void {
  try {
    assertOneQuery(sql);
  } catch (error) {
    throw error instanceof InvalidQueryError ? refuse(400, error.message) : error;
  }
}

/**
 * Runs queries, each in a process of its own, which is killed when its time is up. A thread would not do: what makes it
 * busy is native code, which nothing but the end of its process stops, and which may use up all memory or crash.
 */
export function createQueryRunner(limits: RunnerLimits) {
  const { timeMs, atATime, waiting, ...answerLimits } = limits;
  const turns: (() => void)[] = [];
  let running = 0;

  /** Waits for a turn. @throws AppError 429 when too many wait already */
  async function begin(): Promise<void> {
    if (running < atATime) {
      running += 1;
    } else if (turns.length >= waiting) {
      throw refuse(429, 'Too many queries are being executed. Try again.');
    } else {
      await new Promise<void>((resolve) => turns.push(resolve));
    }
  }

  /** Hands the turn on. */
  function end(): void {
    const next = turns.shift();
    if (next) {
      next();
    } else {
      running -= 1;
    }
  }

  return {
    /**
     * @param load takes what the tables hold; called when it is this query's turn
     * @throws AppError 400 with the reason when the query is refused, 429 when too many wait
     */
    async run(sql: string, load: () => Promise<Snapshot>): Promise<Found & { leftOut: TableName[] }> {
      assertWorthAsking(sql);
      await begin();
      try {
        const { rows, leftOut } = await load();
        const tables = namedTables(sql).map((name) => textOf(sql, name, rows[name]));
        const outcome = await ask({ sql, tables, limits: answerLimits, endWithinMs: timeMs + graceMs }, timeMs);
        if ('refused' in outcome) {
          throw refuse(400, outcome.refused);
        }
        return { ...outcome, leftOut };
      } finally {
        end();
      }
    },
  };
}
