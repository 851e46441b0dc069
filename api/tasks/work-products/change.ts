import {
  type WorkProductFormat,
  workProductLimits,
  type WorkProductPatch,
} from '../../../contracts/tasks/work-product';
import { AppError, assertFound, conflict, validationError } from '../../../platform/errors/app-error';
import type { StatedRevision } from '../../../platform/http/limits/precondition';
import { compact } from '../../../platform/json/compact';
import { operationTime } from '../../../platform/operations/operation';
import {
  measured,
  type StoredVersion,
  type WorkProductRecord,
  type WorkProductStore,
} from '../../../stores/tasks/work-product-store';
import { assertRevision, statedRevision } from '../../revisions';
import { newItemId } from '../tasks/items';
import { contentOf, newestOf, present, resource, versionOf } from './present';

export const type = 'work-products';
export const resourceType = 'work-product';

/** How often a change is tried for while others change the work product. */
const tries = 50;

/** A new state of the content, with its description. */
export interface NewVersion {
  format: WorkProductFormat;
  content: string;
  changelog?: string | undefined;
  restoredFrom?: number;
}

type Fields = Pick<WorkProductRecord, 'title' | 'kind' | 'summary'>;

/** What a change makes of a work product; without a `version` its content stays. */
export interface Changed {
  fields: Fields;
  version?: NewVersion | undefined;
}

/** @throws AppError 400 for content that its format does not allow, which readers of the file would fail on */
export function assertFormat({ format, content }: Pick<NewVersion, 'format' | 'content'>): void {
  if (format !== 'json') {
    return;
  }
  try {
    JSON.parse(content);
  } catch {
    throw validationError([{ path: 'content', message: 'must be JSON, which is its format' }]);
  }
}

export const asStored = (
  { content, ...facts }: NewVersion,
  { id, version, actor }: { id: string; version: number; actor: string },
): StoredVersion =>
  compact({
    id,
    version,
    ...facts,
    ...measured(content),
    createdAt: operationTime().toISOString(),
    createdBy: actor,
  });

/** The revision that a writer states. @throws AppError 409 when the work product is at another one */
export async function assertExpected(record: WorkProductRecord, stated: StatedRevision): Promise<number | undefined> {
  const about = { type, id: record._id, current: () => Promise.resolve(record) };
  const expectedRevision = await statedRevision(about, stated);
  assertRevision(
    resourceType,
    { id: record._id, revision: record.revision },
    {
      expectedRevision,
      shown: present(record),
    },
  );
  return expectedRevision;
}

export interface Writing {
  id: string;
  stated: StatedRevision;
  actor: string;
}

/**
 * Changes a work product by what `change` makes of the newest record; it may run more than once.
 *
 * @throws AppError 404; 409 when it is not at the stated revision, has too many versions, or others change it all the time
 */
export async function changeProduct(
  store: WorkProductStore,
  { id, stated, actor }: Writing,
  change: (current: WorkProductRecord) => Promise<Changed>,
): Promise<WorkProductRecord> {
  const versionId = newItemId('productversion');
  try {
    for (let attempt = 1; attempt <= tries; attempt += 1) {
      const current = await store.get(id);
      assertFound(current, resource, id);
      // An earlier try of this request has made its version.
      if (current.versions.some((version) => version.id === versionId)) {
        return current;
      }
      await assertExpected(current, stated);
      const changed = await change(current);
      if (!changed.version && isSame(current, changed.fields)) {
        return current;
      }
      const next = nextOf(current, changed, { id: versionId, actor });
      if (await store.replace(next, changed.version?.content)) {
        return next;
      }
    }
    throw conflict('Others keep changing this work product. Try again.', { resourceType, resourceId: id });
  } catch (error) {
    // A refusal comes before a record has the version. After another failure the outcome is open: `settle` reads the record.
    if (error instanceof AppError) {
      await store.discard(versionId);
    }
    throw error;
  }
}

const isSame = (current: Fields, { title, kind, summary }: Fields): boolean =>
  title === current.title && kind === current.kind && summary === current.summary;

function nextOf(
  current: WorkProductRecord,
  { fields, version }: Changed,
  { id, actor }: { id: string; actor: string },
): WorkProductRecord {
  const { summary: _summary, ...rest } = current;
  if (version && current.versions.length >= workProductLimits.versions) {
    throw conflict(
      `A work product has at most ${workProductLimits.versions} versions; create another one.`,
      { resourceType, resourceId: current._id },
      'WORK_PRODUCT_VERSIONS_EXHAUSTED',
    );
  }
  const number = newestOf(current).version + 1;
  return {
    ...rest,
    ...compact({ ...fields }),
    versions: version ? [...current.versions, asStored(version, { id, version: number, actor })] : current.versions,
    revision: current.revision + 1,
    updatedAt: operationTime().toISOString(),
    updatedBy: actor,
  };
}

type Patch = Omit<WorkProductPatch, 'expectedRevision'>;

/** What a patch makes of a work product. @throws AppError 400 for a changelog of nothing, and content that is not of its format */
export async function patched(store: WorkProductStore, current: WorkProductRecord, patch: Patch): Promise<Changed> {
  const newest = newestOf(current);
  const fields = {
    title: patch.title ?? current.title,
    kind: patch.kind ?? current.kind,
    summary: 'summary' in patch ? patch.summary : current.summary,
  };
  const format = patch.format ?? newest.format;
  const isNew =
    format !== newest.format || (patch.content !== undefined && measured(patch.content).sha256 !== newest.sha256);
  if (!isNew) {
    if (patch.changelog !== undefined && patch.changelog !== newest.changelog) {
      throw validationError([
        { path: 'changelog', message: 'describes a new version: send it with another content or format' },
      ]);
    }
    return { fields };
  }
  const content = patch.content ?? (await contentOf(store, current, newest));
  const version = { format, content, changelog: patch.changelog };
  assertFormat(version);
  return { fields, version };
}

/** What restoring a version makes of a work product. @throws AppError 404 for no version, 409 for the newest */
export async function restored(
  store: WorkProductStore,
  current: WorkProductRecord,
  { version: number, changelog }: { version: number; changelog?: string | undefined },
): Promise<Changed> {
  const version = versionOf(current, number);
  if (version === newestOf(current)) {
    throw conflict(`Version ${number} is the newest one already.`, {
      resourceType,
      resourceId: current._id,
      current: present(current),
    });
  }
  const content = await contentOf(store, current, version);
  const { title, kind, summary } = current;
  return {
    fields: { title, kind, summary },
    version: { format: version.format, content, changelog, restoredFrom: number },
  };
}
