import type { ProviderRuntimeManifest } from '../../contracts/runs/launch/contract';
import type { SubmittedManifest } from '../../contracts/settings/agent-registry';
import type { FieldIssue } from '../../platform/errors/app-error';
import { digestOf } from '../../platform/json/digest';
import { createRedactor, isSecretName, type Redactor } from '../../platform/log/redact';
import { capabilityIds } from '../capabilities';
import { providerDigest } from '../integrity';

export type CheckedManifest = { manifest: ProviderRuntimeManifest } | { issues: FieldIssue[] };

/**
 * Checks an agent's manifest of itself (specification 2, Routing rule 5): the whole inventory of capabilities, each once and no
 * other, and the digest, which is computed again. A digest over everything but itself is accepted as well as one that also
 * omits the time of the probe, which is the one that is stored: probing again does not change it.
 *
 * @param at path of the manifest in the request
 */
export function checkManifest(submitted: SubmittedManifest, at: string): CheckedManifest {
  const { digest: stated, ...body } = submitted;
  const digest = providerDigest({ ...body, digest: '' });
  const issues = [...inventoryIssues(submitted, at)];
  if (stated !== undefined && stated !== digest && stated !== digestOf(body)) {
    issues.push({ path: `${at}.digest`, message: 'is not the digest of this manifest', code: 'digest_mismatch' });
  }
  return issues.length > 0 ? { issues } : { manifest: { ...body, digest } };
}

function inventoryIssues({ capabilities }: SubmittedManifest, at: string): FieldIssue[] {
  const capabilitySet: ReadonlySet<string> = new Set(capabilityIds);
  const seen = new Set<string>();
  const issues = capabilities.flatMap(({ id }, index): FieldIssue[] => {
    const path = `${at}.capabilities.${index}.id`;
    if (!capabilitySet.has(id)) {
      return [{ path, message: 'is not a capability of the inventory', code: 'unknown_capability' }];
    }
    if (seen.has(id)) {
      return [{ path, message: 'is listed twice', code: 'duplicate_capability' }];
    }
    seen.add(id);
    return [];
  });
  const missing = capabilityIds.filter((id) => !seen.has(id));
  if (missing.length > 0) {
    const message = `lacks ${missing.join(', ')}: a manifest covers the whole inventory`;
    issues.push({ path: `${at}.capabilities`, message, code: 'incomplete_inventory' });
  }
  return issues;
}

/** The fields of a document that look like a secret: by its shape, or by the name of its field. */
export function secretIssues(document: unknown, redact: Redactor = createRedactor()): FieldIssue[] {
  const issues: FieldIssue[] = [];
  const walk = (value: unknown, path: string): void => {
    if (typeof value === 'string') {
      if (redact(value) !== value) {
        issues.push(issue(path));
      }
    } else if (typeof value === 'object' && value !== null) {
      for (const [name, item] of Object.entries(value)) {
        const here = path === '' ? name : `${path}.${name}`;
        if (redact(name) !== name) {
          issues.push(issue(path === '' ? 'a field name' : `${path}: a field name`));
        } else if (isSecretName(name) && item !== null && item !== '') {
          issues.push(issue(here));
        } else {
          walk(item, here);
        }
      }
    }
  };
  walk(document, '');
  return issues;
}

const issue = (path: string): FieldIssue => ({
  path,
  message: 'looks like a secret; remove it',
  code: 'secret_like',
});
