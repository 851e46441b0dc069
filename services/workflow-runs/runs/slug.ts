import { hash } from 'node:crypto';

/**
 * The name of a workflow in URLs: the Latin letters and digits of its name. One without any has a part of its digest, so that
 * workflows whose names are in another script are not one.
 */
export const slugOf = (name: string): string =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 64)
    .replace(/^-|-$/g, '') || `workflow-${hash('sha256', name).slice(0, 12)}`;
