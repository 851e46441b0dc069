import type { WorkProduct, WorkProductContent, WorkProductVersion } from '../../../contracts/tasks/work-product';
import { AppError, notFound } from '../../../platform/errors/app-error';
import { compact } from '../../../platform/json/compact';
import type { StoredVersion, WorkProductRecord, WorkProductStore } from '../../../stores/tasks/work-product-store';

export const resource = 'work product';

/** The newest version; of the versions of a record there is one at least. */
export function newestOf({ _id, versions }: WorkProductRecord): StoredVersion {
  const newest = versions.at(-1);
  if (!newest) {
    throw new Error(`The work product ${_id} has no version.`);
  }
  return newest;
}

/** @throws AppError 404 */
export function versionOf({ versions }: WorkProductRecord, number: number): StoredVersion {
  const version = versions.find((one) => one.version === number);
  if (!version) {
    throw notFound(`version of the ${resource}`, String(number));
  }
  return version;
}

export const presentVersion = ({ id: _id, ...version }: StoredVersion): WorkProductVersion => version;

export function present(record: WorkProductRecord): WorkProduct {
  const { _id, versions: _versions, ...fields } = record;
  const { version, format, size, sha256 } = newestOf(record);
  return compact({ id: _id, ...fields, version, format, size, sha256 });
}

/**
 * The content of a version of a work product.
 *
 * @throws AppError 404 when the work product is gone meanwhile, 410 when only its content is
 */
export async function contentOf(
  store: Pick<WorkProductStore, 'content' | 'get'>,
  { _id }: WorkProductRecord,
  { id, version }: StoredVersion,
): Promise<string> {
  const content = await store.content(id);
  if (content !== undefined) {
    return content;
  }
  if (!(await store.get(_id))) {
    throw notFound(resource, _id);
  }
  throw new AppError('WORK_PRODUCT_CONTENT_GONE', {
    status: 410,
    message: 'The content of this version no longer exists.',
    details: { id: _id, version },
  });
}

export const withContent = async (
  store: Pick<WorkProductStore, 'content' | 'get'>,
  record: WorkProductRecord,
): Promise<WorkProductContent> => ({
  ...present(record),
  content: await contentOf(store, record, newestOf(record)),
});
