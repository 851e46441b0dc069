import { lstat, readlink, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { readWhole } from '../commands/workspace-files';
import { git, GitFailedError } from './git';

/** What a snapshot may hold: how many files, and how much of each and of all, in bytes. */
const limits = { files: 10_000, fileBytes: 8_000_000, bytes: 200_000_000 };
export const branch = 'refs/heads/run';
const author = 'Runboard <runboard@localhost>';

/** A workspace has more than a snapshot holds. */
export class WorkspaceTooLargeError extends Error {
  override readonly name = 'WorkspaceTooLargeError';
}

export const headOf = async (gitDir: string): Promise<string | undefined> => {
  const found = await git({ gitDir }, ['for-each-ref', '--format=%(objectname)', branch]);
  return String(found).trim() || undefined;
};

/**
 * Commits what is in a workspace, but what its `.gitignore` files leave out. Git never works in the workspace: its commands could
 * make it run programs there.
 *
 * @param workspace without links
 * @returns the commit; the one before when nothing has changed
 * @throws WorkspaceTooLargeError
 */
export async function commitSnapshot(
  { gitDir, workspace }: { gitDir: string; workspace: string },
  { message, at }: { message: string; at: Date },
): Promise<string> {
  const parent = await headOf(gitDir);
  const index = join(gitDir, 'snapshot-index');
  await rm(index, { force: true });
  if (parent !== undefined) {
    await git({ gitDir, index }, ['read-tree', parent]);
  }
  const list = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const names = await git({ gitDir, index, workTree: workspace, maxBytes: limits.files * 400 }, list).catch(
    (error: unknown) => {
      throw error instanceof GitFailedError && error.message.includes('bytes of output')
        ? new WorkspaceTooLargeError('The workspace has too many files for a checkpoint.')
        : error;
    },
  );
  const paths = [...new Set(String(names).split('\0'))].filter(isStorable).sort();
  if (paths.length > limits.files) {
    throw new WorkspaceTooLargeError(`The workspace has more than ${limits.files} files.`);
  }
  const input = commands({ workspace, paths, parent, message, at });
  await git({ gitDir, input }, ['fast-import', '--quiet', '--force', '--done', '--date-format=raw']);
  const commit = (await headOf(gitDir)) ?? '';
  const isSame = parent !== undefined && (await treeOf(gitDir, commit)) === (await treeOf(gitDir, parent));
  if (isSame) {
    await git({ gitDir }, ['update-ref', branch, parent]);
  }
  return isSame ? parent : commit;
}

const treeOf = async (gitDir: string, commit: string): Promise<string> =>
  String(await git({ gitDir }, ['rev-parse', '--verify', `${commit}^{tree}`])).trim();

/** A nested repository is no file, and its data is none of the run's. */
const isStorable = (path: string): boolean =>
  path !== '' &&
  !path.endsWith('/') &&
  !path.includes('\uFFFD') &&
  !path.split('/').some((part) => /^\.git$/i.test(part));

const quoted = (path: string): string =>
  `"${path.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`;

const data = (content: Buffer): Buffer[] => [Buffer.from(`data ${content.length}\n`), content, Buffer.from('\n')];

async function* commands({
  workspace,
  paths,
  parent,
  message,
  at,
}: {
  workspace: string;
  paths: readonly string[];
  parent: string | undefined;
  message: string;
  at: Date;
}): AsyncGenerator<Buffer | string> {
  yield `commit ${branch}\ncommitter ${author} ${Math.floor(at.getTime() / 1000)} +0000\n`;
  yield* data(Buffer.from(message));
  yield `${parent === undefined ? '' : `from ${parent}\n`}deleteall\n`;
  let bytes = 0;
  for (const path of paths) {
    const entry = await entryOf(workspace, path);
    if (!entry) {
      continue;
    }
    bytes += entry.content.length;
    if (bytes > limits.bytes) {
      throw new WorkspaceTooLargeError(`The workspace has more than ${limits.bytes} bytes.`);
    }
    yield `M ${entry.mode} inline ${quoted(path)}\n`;
    yield* data(entry.content);
  }
  // Without it, as after a kill, nothing of it counts.
  yield '\ndone\n';
}

async function entryOf(workspace: string, path: string): Promise<{ mode: string; content: Buffer } | undefined> {
  const facts = await lstat(join(workspace, path)).catch(() => undefined);
  if (facts?.isSymbolicLink()) {
    const target = await readlink(join(workspace, path)).catch(() => undefined);
    return target === undefined ? undefined : { mode: '120000', content: Buffer.from(target) };
  }
  const file = facts?.isFile() ? await readWhole(workspace, path, limits.fileBytes) : undefined;
  return file && { mode: file.isExecutable ? '100755' : '100644', content: file.content };
}
