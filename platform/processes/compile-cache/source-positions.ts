import { readFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { dirname, resolve } from 'node:path';

/** Of a file that has none: nothing. */
const maps = new Map<string, SourceMap | undefined>();

function sourceMapOf(filename: string): SourceMap | undefined {
  if (!maps.has(filename)) {
    maps.set(filename, readSourceMap(filename));
  }
  return maps.get(filename);
}

function readSourceMap(filename: string): SourceMap | undefined {
  try {
    return new SourceMap(JSON.parse(readFileSync(`${filename}.map`, 'utf8')) as SourceMapPayload);
  } catch {
    return undefined;
  }
}

/** Where in its source a place of a compiled file is, as `path:line:column`; both places count from 1. */
export function sourcePosition(filename: string, line: number, column: number): string | undefined {
  const entry = sourceMapOf(filename)?.findEntry(line - 1, column - 1);
  if (entry === undefined || !('originalSource' in entry)) {
    return undefined;
  }
  const { originalSource, originalLine, originalColumn } = entry;
  return `${resolve(dirname(filename), originalSource)}:${originalLine + 1}:${originalColumn + 1}`;
}

function frameText(frame: NodeJS.CallSite): string {
  // A call site prints itself as a line of a stack trace.
  const text = (frame as { toString(): string }).toString();
  const [filename, line, column] = [frame.getFileName(), frame.getLineNumber(), frame.getColumnNumber()];
  if (typeof filename !== 'string' || line === null || column === null) {
    return text;
  }
  const position = sourcePosition(filename, line, column);
  return position === undefined ? text : text.replace(`${filename}:${line}:${column}`, position);
}

/**
 * Names sources in stack traces, as `--enable-source-maps` does, by maps that are read with the first error of a file and not
 * with each module that is loaded.
 */
export function prepareStackTrace(error: unknown, frames: NodeJS.CallSite[]): string {
  const title = titleOf(error);
  return frames.length === 0 ? title : `${title}\n${frames.map((frame) => `    at ${frameText(frame)}`).join('\n')}`;
}

/** An error may be any object: one that cannot be printed has no title. */
function titleOf(error: unknown): string {
  try {
    return Error.prototype.toString.call(error);
  } catch {
    return 'Error';
  }
}
