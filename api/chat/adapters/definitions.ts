import type {
  CommunityDefinition,
  DefinitionImport,
  DefinitionLink,
  DefinitionPreview,
  DefinitionPreviewRequest,
  StoredDefinition,
} from '../../../contracts/chat/adapter-definition';
import { slug } from '../../../contracts/common';
import type { ProfileWrite } from '../../../contracts/settings/profile';
import { assertFound, conflict, validationError } from '../../../platform/errors/app-error';
import { compact } from '../../../platform/json/compact';
import { isSameJson } from '../../../platform/json/same';
import { createRedactor } from '../../../platform/log/redact';
import { operationTime } from '../../../platform/operations/operation';
import { withoutTags } from '../../../platform/text/without-tags';
import { maxDefinitions, type StoredLink } from '../../../stores/chat/adapter-definition-store';
import { ownFields } from '../../../stores/port/configured-records';
import { StaleRevisionError } from '../../../stores/port/errors';
import type { AdapterContext } from './adapter';

export type DefinitionContext = Pick<AdapterContext, 'adapterDefinitions' | 'profiles'>;

const redact = createRedactor();

/** How the profile of a link stands to its definition as it was read last. */
async function stateOf(
  { profiles }: Pick<DefinitionContext, 'profiles'>,
  link: StoredLink,
  definition: StoredDefinition | undefined,
): Promise<DefinitionLink['state']> {
  const profile = await profiles.get(link.profileId);
  if (!profile) {
    return 'profile-deleted';
  }
  if (!definition) {
    return 'definition-gone';
  }
  if (!isUnchanged(link, profile)) {
    return 'changed';
  }
  return definition.digest === link.digest ? 'current' : 'outdated';
}

/** Whether a profile is as the import wrote it. */
const isUnchanged = (link: StoredLink, { revision }: { revision: number }): boolean =>
  link.profileRevision === revision;

/** What is stored of a community, each with the profile that was imported from it. */
export async function listDefinitions(context: DefinitionContext, adapterId: string): Promise<CommunityDefinition[]> {
  const { adapterDefinitions } = context;
  const links = new Map((await adapterDefinitions.links(adapterId)).map((link) => [link.definitionId, link]));
  return Promise.all(
    (await adapterDefinitions.list(adapterId)).map(async (definition) => {
      const { instructions: _instructions, ...shown } = definition;
      const link = links.get(definition.id);
      const state = link ? await stateOf(context, link, definition) : null;
      return { ...shown, profileId: link?.profileId ?? null, state };
    }),
  );
}

export async function listLinks(context: DefinitionContext, adapterId: string): Promise<DefinitionLink[]> {
  const { adapterDefinitions } = context;
  return Promise.all(
    (await adapterDefinitions.links(adapterId)).map(async (link) => {
      const definition = await adapterDefinitions.get(adapterId, link.definitionId);
      return { ...link, state: await stateOf(context, link, definition) };
    }),
  );
}

/**
 * What an import would write: a profile that is disabled, until an administrator has read it.
 *
 * @throws AppError 400 without an id for the profile, 404 for a definition that was not read
 */
export async function previewDefinition(
  { adapterDefinitions, profiles }: DefinitionContext,
  adapterId: string,
  request: DefinitionPreviewRequest,
): Promise<DefinitionPreview> {
  const definition = await adapterDefinitions.get(adapterId, request.definitionId);
  assertFound(definition, 'community definition', request.definitionId);
  const link = await adapterDefinitions.link(adapterId, definition.id);
  const profileId = request.profileId ?? link?.profileId ?? idFrom(definition.key);
  const profile = profileOf(definition, request.agent);
  const current = await profiles.get(profileId);
  const isOurs = current && link?.profileId === profileId && isUnchanged(link, current);
  const same = current && isSameJson(wanted(profile, current.enabled), ownFields<ProfileWrite>(current));
  return {
    definitionId: definition.id,
    digest: definition.digest,
    profileId,
    change: changeOf({ exists: current !== undefined, isSame: same === true, isOurs: isOurs === true }),
    profile,
    current: current ? { revision: current.revision, instructions: current.instructions } : null,
    warnings: warningsOf(definition),
  };
}

function changeOf(of: { exists: boolean; isSame: boolean; isOurs: boolean }): DefinitionPreview['change'] {
  if (!of.exists) {
    return 'create';
  }
  if (of.isSame) {
    return 'none';
  }
  return of.isOurs ? 'update' : 'conflict';
}

/** @throws AppError 400 where the name that its author chose is none of a profile */
function idFrom(key: string): string {
  const id = slug.safeParse(key);
  if (!id.success) {
    throw validationError([
      { path: 'profileId', message: 'is required: the definition has no usable name of its own' },
    ]);
  }
  return id.data;
}

/** Texts of others: tags and what looks like a secret are taken out. */
function profileOf({ name, description, instructions }: StoredDefinition, agent: string): ProfileWrite {
  return compact({
    name: redact(withoutTags(name)) || 'Imported',
    description: description === undefined ? undefined : redact(withoutTags(description)),
    agent,
    instructions: redact(instructions),
    requiredChecks: [],
    restrictions: {},
    enabled: false,
  });
}

/** A profile that was enabled stays so only as long as nothing of it changes. */
const wanted = (profile: ProfileWrite, enabled: boolean): ProfileWrite => ({ ...profile, enabled });

const warningsOf = ({ instructions, name, description = '' }: StoredDefinition): string[] => [
  'The instructions were written outside: read them before the profile is enabled.',
  ...([instructions, name, description].some((text) => redact(text) !== text)
    ? ['What looks like a secret was taken out.']
    : []),
];

/**
 * Makes a profile of a definition, or updates the one that was made of it. Repeated, it is the same profile.
 *
 * @throws AppError 409 for a definition that has changed since the preview, and for a profile that is not the import's
 */
export async function importDefinition(
  context: DefinitionContext,
  adapterId: string,
  { body, actor }: { body: DefinitionImport; actor: string },
): Promise<DefinitionLink> {
  const { adapterDefinitions, profiles } = context;
  const preview = await previewDefinition(context, adapterId, body);
  const { definitionId, digest, profileId, change, profile, current } = preview;
  if (digest !== body.expectedDigest) {
    throw conflict(
      'The definition has changed since it was previewed.',
      { adapterId, current: preview },
      'DEFINITION_CHANGED',
    );
  }
  const link = await adapterDefinitions.link(adapterId, definitionId);
  const mayOverwrite = body.overwrite && link?.profileId === profileId;
  if (change === 'conflict' && !mayOverwrite) {
    const message = `The profile ${profileId} was not imported from this definition, or was changed since.`;
    throw conflict(message, { adapterId, name: profileId, current: preview }, 'DEFINITION_CONFLICT');
  }
  if (!link && (await adapterDefinitions.countLinks(adapterId)) >= maxDefinitions) {
    throw conflict(`An adapter has at most ${maxDefinitions} imports.`, { max: maxDefinitions }, 'ADAPTER_LIMIT');
  }
  const written = await write(profiles, profileId, { profile, change, revision: current?.revision ?? 0 });
  const definition = await adapterDefinitions.get(adapterId, definitionId);
  const imported: StoredLink = {
    definitionId,
    profileId,
    author: definition?.author ?? link?.author ?? '',
    digest,
    profileRevision: written,
    importedBy: actor,
    importedAt: operationTime().toISOString(),
  };
  await adapterDefinitions.putLink(adapterId, imported);
  return { ...imported, state: await stateOf(context, imported, definition) };
}

/** Writes the profile at the revision of the preview; one that is so already stays. Returns its revision. */
async function write(
  profiles: DefinitionContext['profiles'],
  id: string,
  { profile, change, revision }: { profile: ProfileWrite; change: DefinitionPreview['change']; revision: number },
): Promise<number> {
  if (change === 'none') {
    return revision;
  }
  try {
    return (await profiles.put(id, profile, revision)).revision;
  } catch (error) {
    if (error instanceof StaleRevisionError) {
      throw conflict(`The profile ${id} is being changed.`, { name: id }, 'DEFINITION_CONFLICT');
    }
    throw error;
  }
}
