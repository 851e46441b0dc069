import { PassThrough, Readable } from 'node:stream';
import { runCommandLine } from '../../cli/program';

export interface Ended {
  code: number;
  output: string;
  errors: string;
}

export interface TerminalOptions {
  environment?: Record<string, string>;
  input?: string;
  isTTY?: boolean;
  signal?: AbortSignal;
}

/** Runs the command in this process, as in a terminal or a pipe. */
export async function runboard(args: string[], options: TerminalOptions = {}): Promise<Ended> {
  const { environment = {}, input = '', isTTY = false, signal = new AbortController().signal } = options;
  const [output, errors] = [new PassThrough(), new PassThrough()].map((stream) => Object.assign(stream, { isTTY }));
  const texts = [output, errors].map((stream) => {
    const chunks: Buffer[] = [];
    stream?.on('data', (chunk: Buffer) => chunks.push(chunk));
    return () => Buffer.concat(chunks).toString();
  });
  const code = await runCommandLine(args, {
    environment,
    input: Readable.from([input]),
    output: output!,
    errors: errors!,
    signal,
  });
  return { code, output: texts[0]?.() ?? '', errors: texts[1]?.() ?? '' };
}
