import { z } from 'zod';
import { digest, revision, slug, text, timestamp } from '../common';
import { profileWrite, sectionLimit } from '../settings/profile';

export const definitionId = z.string().regex(/^definition_[0-9a-f]{24}$/, 'must look like definition_0123…');

/** What an event of the community has to hold that defines an agent. */
export const definitionContent = z.object({
  name: z.string().min(1).max(200),
  description: z.string().max(2_000).optional(),
  instructions: z.string().min(1).max(sectionLimit),
});

/** An agent as a member of the community defines it: a text of others, which nothing here obeys before it is imported. */
const definition = {
  id: definitionId,
  /** What its author names it. */
  key: z.string(),
  /** The public key of who wrote it. */
  author: z.string(),
  name: z.string(),
  description: z.string().optional(),
  /** Of everything that an import takes. */
  digest,
  publishedAt: timestamp,
};
export const storedDefinition = z.object({ ...definition, instructions: z.string() });
export type StoredDefinition = z.infer<typeof storedDefinition>;

/** How a profile stands to the definition that it was imported from. */
export const linkState = z.enum(['current', 'outdated', 'changed', 'profile-deleted', 'definition-gone']);

export const communityDefinition = z
  .object({ ...definition, profileId: slug.nullable(), state: linkState.nullable() })
  .meta({ id: 'CommunityDefinition' });
export type CommunityDefinition = z.infer<typeof communityDefinition>;

export const communityDefinitionList = z
  .object({ definitions: z.array(communityDefinition) })
  .meta({ id: 'CommunityDefinitionList' });

const selection = {
  definitionId,
  /** The agent that runs of the profile use. */
  agent: slug,
  /** The profile that is made of it; by default it is named after the definition. */
  profileId: slug.optional(),
};

export const definitionPreviewRequest = z.strictObject(selection).meta({ id: 'CommunityDefinitionPreviewRequest' });
export type DefinitionPreviewRequest = z.output<typeof definitionPreviewRequest>;

/** What an import would write, which is nothing yet. */
export const definitionPreview = z
  .object({
    definitionId,
    digest,
    profileId: slug,
    /** `conflict`: the profile was not imported from it, or was changed here since it was imported. */
    change: z.enum(['create', 'update', 'none', 'conflict']),
    profile: profileWrite,
    current: z.object({ revision, instructions: z.string() }).nullable(),
    /** What was taken out of the texts, and what to read with care. */
    warnings: z.array(z.string()).max(10),
  })
  .meta({ id: 'CommunityDefinitionPreview' });
export type DefinitionPreview = z.infer<typeof definitionPreview>;

export const definitionImport = z
  .strictObject({
    ...selection,
    /** The digest of the preview: a definition that has changed since is refused. */
    expectedDigest: digest,
    /** Replaces what was changed in the profile since it was imported. */
    overwrite: z.boolean().default(false),
  })
  .meta({ id: 'CommunityDefinitionImport' });
export type DefinitionImport = z.output<typeof definitionImport>;

export const definitionLink = z
  .object({
    definitionId,
    profileId: slug,
    author: z.string(),
    /** Of the definition as it was imported. */
    digest,
    /** Of the profile as the import wrote it. */
    profileRevision: revision,
    importedBy: text(200),
    importedAt: timestamp,
    state: linkState,
  })
  .meta({ id: 'CommunityDefinitionLink' });
export type DefinitionLink = z.infer<typeof definitionLink>;

export const definitionLinkList = z
  .object({ links: z.array(definitionLink) })
  .meta({ id: 'CommunityDefinitionLinkList' });
