import canonicalize from 'canonicalize';
import type { LaunchDrift, RecordedLaunchManifest, RunLaunchManifest } from '../../contracts/runs/launch/manifest';

/** Fields that identify the manifest, not what it launches. */
const identity = new Set(['digest', 'schemaVersion', 'attemptId', 'taskId']);

/** The most fields that are listed, and the longest value that is shown. */
const maxFields = 200;
const maxValueLength = 500;

/**
 * In which fields a launch differs from the manifest of its parent attempt. Objects are compared field by field, lists as a
 * whole. Nothing in a manifest is secret, so the values are listed.
 */
export function driftOf(
  parentAttemptId: string,
  parent: RecordedLaunchManifest,
  current: RunLaunchManifest,
): LaunchDrift {
  const before = flatten(parent);
  const after = flatten(current);
  const paths = [...new Set([...before.keys(), ...after.keys()])].sort();
  const fields = paths
    .filter((path) => before.get(path)?.canonical !== after.get(path)?.canonical)
    .map((field) => ({
      field,
      ...(before.has(field) ? { parent: before.get(field)?.shown } : {}),
      ...(after.has(field) ? { current: after.get(field)?.shown } : {}),
    }));
  return {
    parentAttemptId,
    parentManifestDigest: parent.digest,
    drifted: fields.length > 0,
    fields: fields.slice(0, maxFields),
  };
}

interface Leaf {
  canonical: string;
  shown: unknown;
}

function flatten(manifest: object): Map<string, Leaf> {
  const leaves = new Map<string, Leaf>();
  const walk = (value: unknown, path: string): void => {
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      for (const [key, item] of Object.entries(value)) {
        if (path !== '' || !identity.has(key)) {
          walk(item, path === '' ? key : `${path}.${key}`);
        }
      }
      return;
    }
    const canonical = canonicalize(value) ?? '';
    leaves.set(path, { canonical, shown: canonical.length > maxValueLength ? '[TOO LONG]' : value });
  };
  walk(manifest, '');
  return leaves;
}
