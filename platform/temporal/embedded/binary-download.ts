import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import { abortableFetch } from '../../http/abortable-fetch';
import { meter, type Report } from './progress';

const downloadInfo = z.object({ archiveUrl: z.url(), fileToExtract: z.string().regex(/^[\w.-]+$/) });

const archiveMs = 300_000;

export interface DownloadOptions {
  base?: string;
  firstAnswerMs?: number;
  /** Receives a line for each tenth that has arrived. */
  report?: Report;
}

/**
 * Downloads the CLI from where `@temporalio/testing` gets it. That package is not used for it because it is a
 * development dependency, and because its native download has no deadline.
 *
 * @returns path of the binary inside `directory`
 * @throws Error with the reason; within ten seconds when the network is blocked
 */
export async function downloadCli(
  version: string,
  directory: string,
  // A blocked network is noticed at the first response, which is a few hundred bytes.
  { base = 'https://temporal.download', firstAnswerMs = 10_000, report }: DownloadOptions = {},
): Promise<string> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const arch = process.arch === 'x64' ? 'amd64' : process.arch;
  const query = new URLSearchParams({ platform, arch, format: 'tar.gz' });
  const answer = await request(`${base}/cli/${version}?${query.toString()}`, firstAnswerMs);
  const { archiveUrl, fileToExtract } = downloadInfo.parse(await answer.json());
  const archive = await request(archiveUrl, archiveMs);
  if (!archive.body) {
    throw new Error(`${archiveUrl} answered without a body`);
  }
  const total = Number(archive.headers.get('content-length') ?? 0);
  const metered = meter('downloading the Temporal CLI', total, report ?? (() => undefined));
  const received = Readable.fromWeb(archive.body);
  received.on('error', (error) => metered.destroy(error));
  await extract(received.pipe(metered), fileToExtract, directory);
  return join(directory, fileToExtract);
}

async function request(url: string, withinMs: number): Promise<Response> {
  let response: Response;
  try {
    response = await abortableFetch(url, { signal: AbortSignal.timeout(withinMs) });
  } catch (error) {
    // `fetch` hides what happened (ENOTFOUND, ECONNREFUSED …) in the cause.
    const reason = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    throw new Error(`${url}: ${reason instanceof Error ? reason.message : String(reason)}`, { cause: error });
  }
  if (!response.ok) {
    throw new Error(`${url} answered ${response.status}`);
  }
  return response;
}

async function extract(archive: Readable, file: string, directory: string): Promise<void> {
  const tar = spawn('tar', ['-xzf', '-', '-C', directory, file], { stdio: ['pipe', 'ignore', 'ignore'] });
  const [[code]] = await Promise.all([once(tar, 'exit') as Promise<[number | null]>, pipeline(archive, tar.stdin)]);
  if (code !== 0) {
    throw new Error(`tar could not unpack the archive (exit code ${code ?? 'none'})`);
  }
}
