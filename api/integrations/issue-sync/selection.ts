import { validationError } from '../../../platform/errors/app-error';
import type { IssueSyncRecord } from '../../../stores/integrations/issue-sync-store';
import type { ApiContext } from '../../context';
import { hasForge, type RepositoryWithForge } from '../with-forge';

type SelectionContext = Pick<ApiContext, 'issueSyncs' | 'repositories'>;

const refused = (path: string, message: string): Error => validationError([{ path, message }]);

/**
 * The configured repository that a caller names, by its name or by that at its forge.
 *
 * @param path of the field that names it
 * @throws AppError 400 when there is none with a forge, or several have that name there
 */
export async function repositoryNamed(
  { repositories }: Pick<ApiContext, 'repositories'>,
  named: string,
  path: string,
): Promise<RepositoryWithForge> {
  const all = await repositories.list();
  const found = all.find(({ name }) => name === named);
  if (found) {
    if (!hasForge(found)) {
      throw refused(path, `names a repository without a forge: set forge with PATCH /api/config/repos/${found.name}`);
    }
    return found;
  }
  const there = all.filter(hasForge).filter(({ forge }) => forge.repository.toLowerCase() === named.toLowerCase());
  const [only] = there;
  if (!only) {
    throw refused(path, 'names no configured repository: add one with a forge with POST /api/config/repos');
  }
  if (there.length > 1) {
    throw refused(path, `is the repository of ${there.map(({ name }) => name).join(', ')}: name one of them`);
  }
  return only;
}

/**
 * The synchronisation that a caller means: of the repository it names, or else the only one, or the only enabled one;
 * `undefined` when there is none.
 *
 * @throws AppError 400 when it names no repository with a forge, or names none and there are several
 */
export async function syncNamed(
  context: SelectionContext,
  named: string | undefined,
  path: string,
): Promise<IssueSyncRecord | undefined> {
  const { configs } = context.issueSyncs;
  if (named !== undefined) {
    // One whose repository has lost its forge can still be read.
    return (await configs.get(named)) ?? configs.get((await repositoryNamed(context, named, path)).name);
  }
  const all = await configs.list();
  const enabled = all.filter((one) => one.enabled);
  const [only] = enabled.length > 0 ? enabled : all;
  if ((enabled.length > 0 ? enabled : all).length > 1) {
    throw refused(path, `is needed, since several are configured: ${all.map(({ id }) => id).join(', ')}`);
  }
  return only;
}
