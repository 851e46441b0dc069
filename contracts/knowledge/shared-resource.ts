import { z } from 'zod';
import { clearable, exactlyOneOf, revision, text, timestamp } from '../common';
import { paging } from '../query';

/** Maximum of them, so that a list of all fits into one response. */
export const sharedResourceLimit = 500;

export const sharedResourceType = z.enum(['prompt', 'guideline', 'skill', 'config', 'template']);

export const sharedResourceId = z
  .string()
  .regex(/^resource_[0-9a-f]{12}$/, 'must look like resource_0123456789ab')
  .meta({ id: 'SharedResourceId' });

const projectIds = z.array(text(200, 1)).max(200);
const fields = {
  name: text(200, 1),
  type: sharedResourceType,
  content: text(50_000),
  tags: z.array(text(50, 1)).max(50),
};

/** Something that several projects use: a prompt, a guideline, a skill, a configuration, a template. */
export const sharedResource = z
  .object({
    id: sharedResourceId,
    ...fields,
    /** The projects it is mounted in. */
    projectIds: z.array(z.string()),
    revision,
    createdAt: timestamp,
    updatedAt: timestamp,
  })
  .meta({ id: 'SharedResource' });
export type SharedResource = z.infer<typeof sharedResource>;
export type SharedResourceFields = Omit<SharedResource, 'id' | 'revision' | 'createdAt' | 'updatedAt'>;

/** `mountedIn` is another name of `projectIds` (gaps 2). */
export const sharedResourceCreate = z
  .strictObject({
    ...fields,
    content: fields.content.min(1),
    tags: fields.tags.default([]),
    projectIds: projectIds.optional(),
    mountedIn: projectIds.optional(),
  })
  .refine(({ projectIds, mountedIn }) => projectIds === undefined || mountedIn === undefined, {
    path: ['mountedIn'],
    message: 'is an alias of projectIds: give only one of them',
  })
  .meta({ id: 'SharedResourceCreate' });

/** Where it is mounted is changed by mounting. */
export const sharedResourcePatch = z
  .strictObject({
    name: fields.name.optional(),
    type: fields.type.optional(),
    content: fields.content.min(1).optional(),
    tags: clearable(fields.tags),
    expectedRevision: revision.optional(),
  })
  .meta({ id: 'SharedResourcePatch' });

export const sharedResourceMount = z
  .strictObject({ projectIds: projectIds.min(1).optional(), mountedIn: projectIds.min(1).optional() })
  .refine(...exactlyOneOf('projectIds', 'mountedIn'))
  .meta({ id: 'SharedResourceMount' });

/** `name` is looked for in the name, whatever its case; the others are compared exactly. */
export const sharedResourceQuery = z
  .strictObject({
    type: sharedResourceType.optional(),
    project: z.string().max(200).optional(),
    tag: z.string().max(50).optional(),
    name: z.string().max(200).optional(),
    ...paging(100, sharedResourceLimit),
  })
  .meta({ id: 'SharedResourceQuery' });
export type SharedResourceQuery = z.output<typeof sharedResourceQuery>;
