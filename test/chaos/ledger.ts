import { appendFileSync, closeSync, fstatSync, openSync, readSync, writeFileSync } from 'node:fs';

/** What agents write before they do it (see `test/support/agents/ledger-bee.mjs`). */
export interface AgentLine {
  by: 'agent';
  what: 'start' | 'overlap' | 'wrote' | 'print' | 'commit' | 'result' | 'end';
  /** Milliseconds since the epoch. */
  at: number;
  task: string;
  attempt: string;
  mode?: string;
  pid?: number;
  startTime?: string;
  /** The process that started it, and the one that started that: one of them is its worker. */
  supervisors?: number[];
  nonce?: string;
  sha?: string;
  status?: string;
  other?: string;
}

/** What callers write once the service has acknowledged it. */
export interface CallerLine {
  by: 'caller';
  what: 'create-sent' | 'created' | 'started' | 'start-refused' | 'decided' | 'cancelled';
  at: number;
  /** Unique among all tasks of a run of the chaos. */
  title?: string;
  task?: string;
  attempt?: string;
  status?: string;
}

/** What the chaos itself writes when it strikes. */
export interface StrikeLine {
  by: 'chaos';
  what: string;
  at: number;
  pid: number;
}

export type Line = AgentLine | CallerLine | StrikeLine;

/** One plain file that agents, callers and the chaos append to; nothing of the service reads or writes it. */
export function openLedger(file: string) {
  writeFileSync(file, '');
  const descriptor = openSync(file, 'r');
  const lines: Line[] = [];
  let offset = 0;

  const append = (line: Line): void => appendFileSync(file, `${JSON.stringify(line)}\n`);

  /** Everything so far. Only what is new is read. */
  const read = (): readonly Line[] => {
    const buffer = Buffer.alloc(fstatSync(descriptor).size - offset);
    const { length } = buffer.subarray(0, readSync(descriptor, buffer, 0, buffer.length, offset));
    const whole = buffer.subarray(0, length).lastIndexOf('\n') + 1;
    offset += whole;
    const added = buffer.subarray(0, whole).toString('utf8').split('\n').filter(Boolean);
    for (const line of added) {
      lines.push(JSON.parse(line) as Line);
    }
    return lines;
  };
  const agents = (): AgentLine[] => read().filter((line) => line.by === 'agent');

  return {
    file,
    caller: (what: CallerLine['what'], fields: Partial<CallerLine> = {}): void =>
      append({ by: 'caller', what, at: Date.now(), ...fields }),
    strike: (what: string, pid: number): void => append({ by: 'chaos', what, at: Date.now(), pid }),
    /** How many starts and ends agents have written. */
    turns: (): number => agents().filter(({ what }) => what === 'start' || what === 'end').length,
    read,
    agents,
    close: (): void => closeSync(descriptor),
  };
}

export type Ledger = ReturnType<typeof openLedger>;
