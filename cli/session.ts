import type { Writable } from 'node:stream';
import { type BoardClient, createBoardClient } from '../clients/typescript/src';
import { type Style, styleFor } from './output/style';
import { readSettings } from './settings';

/** What of its surroundings the command uses: the process of the user, or a test's. */
export interface Surroundings {
  environment: Record<string, string | undefined>;
  input: NodeJS.ReadableStream & { isTTY?: boolean };
  output: Writable & { isTTY?: boolean; columns?: number };
  errors: Writable & { isTTY?: boolean };
  /** Aborted by an interrupt of the user. */
  signal: AbortSignal;
}

export interface GlobalOptions {
  url?: string;
  json?: boolean;
}

/** One execution of a command against a board. */
export interface Session {
  url: string;
  board: BoardClient;
  isJson: boolean;
  style: Style;
  signal: AbortSignal;
  /** Prints the value as JSON where that is asked for, else the text. */
  print(value: unknown, text: () => string): void;
  /** A line for people: to standard error, and not where JSON is asked for. */
  note(line: string): void;
}

export async function openSession(surroundings: Surroundings, options: GlobalOptions): Promise<Session> {
  const { environment, output, errors, signal } = surroundings;
  const { url, key } = await readSettings(environment, options.url);
  const isJson = options.json === true;
  return {
    url,
    board: createBoardClient({ url, ...(key === undefined ? {} : { key }) }),
    isJson,
    style: styleFor(output, environment),
    signal,
    print: (value, text) => {
      output.write(isJson ? `${JSON.stringify(value)}\n` : text());
    },
    note: (line) => {
      if (!isJson) {
        errors.write(`${line}\n`);
      }
    },
  };
}
