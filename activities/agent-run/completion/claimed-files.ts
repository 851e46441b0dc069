import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { isAbsolute, resolve, sep } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { CompletionClaims, HarnessEvidence } from '../../../contracts/runs/completion';
import { type RecordedWorktree, verifyRecorded } from '../../../providers/git/worktrees/worktree-location';

type ClaimedFile = NonNullable<HarnessEvidence['claimedFiles']>[number];

/** Larger files are listed, but not read. */
const hashedBytes = 64 * 1024 * 1024;

/** The paths that an agent's claims of artifacts name; addresses are not paths. */
const claimedPaths = ({ artifacts = [], evidence = [] }: CompletionClaims): string[] => {
  const references = [
    ...artifacts.filter(({ kind }) => kind !== 'url').map(({ reference }) => reference),
    ...evidence.filter(({ kind }) => kind === 'artifact').map(({ reference }) => reference),
  ];
  const paths = references.filter((path): path is string => path !== undefined && path !== '');
  return [...new Set(paths)].filter((path) => !/^[a-z][a-z0-9+.-]*:\/\//i.test(path) && !path.includes('\0'));
};

/**
 * Checks the worktree for the claimed files. A file elsewhere, also by a symbolic link, counts as missing: an agent must not
 * have the service read other files for it.
 */
export async function findClaimedFiles(recorded: RecordedWorktree, claims: CompletionClaims): Promise<ClaimedFile[]> {
  const root = verifyRecorded(recorded) && recorded.worktreePath;
  const files: ClaimedFile[] = [];
  for (const path of claimedPaths(claims)) {
    const file = root === undefined ? undefined : await fileInside(root, path);
    files.push({ path, bytes: file?.bytes ?? null, sha256: file?.sha256 ?? null });
  }
  return files;
}

async function fileInside(root: string, path: string): Promise<Omit<ClaimedFile, 'path'> | undefined> {
  try {
    const real = await realpath(isAbsolute(path) ? path : resolve(root, path));
    if (!real.startsWith(root + sep)) {
      return undefined;
    }
    const facts = await stat(real);
    if (!facts.isFile()) {
      return undefined;
    }
    if (facts.size > hashedBytes) {
      return { bytes: facts.size, sha256: null };
    }
    const hash = createHash('sha256');
    await pipeline(createReadStream(real), hash);
    return { bytes: facts.size, sha256: hash.digest('hex') };
  } catch {
    return undefined;
  }
}
