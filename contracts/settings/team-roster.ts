import { z } from 'zod';
import { slug, text } from '../common';
import { taskPriority } from '../tasks/task';

const subtasks = z.number().int().min(0).max(10_000);

/** A path pattern: `*` and `?` within one directory, `**` across them. */
export const pathGlob = text(200, 1).refine(
  (glob) => !glob.startsWith('/') && !glob.split('/').includes('..'),
  'must be relative to the repository, without ..',
);

/** What work a member takes: every field that is set has to match. */
export const rosterMatch = z
  .strictObject({
    types: z.array(text(50, 1)).min(1).max(100).optional(),
    priorities: z.array(taskPriority).min(1).optional(),
    projects: z.array(text(200, 1)).min(1).max(100).optional(),
    /** One of them matches the path of the work; work without a path does not match. */
    paths: z.array(pathGlob).min(1).max(100).optional(),
    /** What the member can do; work that needs anything else does not match. */
    capabilities: z.array(text(100, 1)).min(1).max(100).optional(),
    minSubtasks: subtasks.optional(),
    maxSubtasks: subtasks.optional(),
  })
  .refine(({ minSubtasks = 0, maxSubtasks = Infinity }) => minSubtasks <= maxSubtasks, {
    path: ['maxSubtasks'],
    message: 'is less than minSubtasks',
  });

export const rosterMember = z
  .strictObject({
    id: slug,
    name: text(100, 1),
    role: text(100, 1).optional(),
    /** Who does the work: a configured agent, or a profile, which brings its agent. */
    agent: slug.optional(),
    profileId: slug.optional(),
    model: text(200, 1).optional(),
    match: rosterMatch.default({}),
    /** The member that is used when this one is not available. */
    fallback: slug.optional(),
    /** The members that review this one's work. */
    reviewers: z.array(slug).max(20).default([]),
    enabled: z.boolean().default(true),
  })
  .refine(({ agent, profileId }) => agent !== undefined || profileId !== undefined, {
    path: ['agent'],
    message: 'a member requires an agent or a profileId',
  })
  .meta({ id: 'RosterMember' });
export type RosterMember = z.infer<typeof rosterMember>;

const shape = z.strictObject({
  schemaVersion: z.literal('team-roster/v1').default('team-roster/v1'),
  name: text(100, 1).default('Team'),
  /** A disabled roster is stored and not evaluated. */
  enabled: z.boolean().default(true),
  /** Evaluated in this order; the first that matches takes the work. */
  members: z.array(rosterMember).max(200),
  /** Used when neither the member that matched nor its own fallback is available. */
  fallback: slug.optional(),
  /** For work of members that name no reviewers of their own. */
  reviewers: z.array(slug).max(20).default([]),
});

type Shape = z.infer<typeof shape>;

/** Every path at which a roster names one of its members. */
function references({ members, fallback, reviewers }: Shape): { path: (string | number)[]; id: string }[] {
  const lists = (path: (string | number)[], ids: string[]) => ids.map((id, at) => ({ path: [...path, at], id }));
  const own = members.flatMap((member, at) => [
    ...(member.fallback === undefined ? [] : [{ path: ['members', at, 'fallback'], id: member.fallback }]),
    ...lists(['members', at, 'reviewers'], member.reviewers),
  ]);
  return [
    ...own,
    ...(fallback === undefined ? [] : [{ path: ['fallback'], id: fallback }]),
    ...lists(['reviewers'], reviewers),
  ];
}

/** Who is on the team, and who takes what (specification 2, Routing rule 1). */
export const teamRoster = shape
  .superRefine((roster, ctx) => {
    const ids = roster.members.map(({ id }) => id);
    const problem = (path: (string | number)[], message: string) => ctx.addIssue({ code: 'custom', path, message });
    ids.forEach((id, at) => {
      if (ids.indexOf(id) !== at) {
        problem(['members', at, 'id'], 'is the id of another member');
      }
    });
    for (const { path, id } of references(roster)) {
      if (!ids.includes(id)) {
        problem(path, 'is not a member of the roster');
      }
    }
    roster.members.forEach(({ id, fallback, reviewers }, at) => {
      if (fallback === id) {
        problem(['members', at, 'fallback'], 'is the member itself');
      }
      if (reviewers.includes(id)) {
        problem(['members', at, 'reviewers'], 'a member cannot review itself');
      }
    });
  })
  .meta({ id: 'TeamRoster' });
export type TeamRoster = z.infer<typeof teamRoster>;

/** Text of a roster or a manifest, as people store it in files. */
export const importedDocument = z
  .strictObject({ content: z.string().min(1).max(262_144), format: z.enum(['yaml', 'json']).optional() })
  .meta({ id: 'ImportedDocument' });

/** A document to validate: as an object, or as its text. */
export const documentToValidate = z.union([importedDocument, z.record(z.string(), z.unknown())]);

export const exportQuery = z.strictObject({ format: z.enum(['yaml', 'json']).default('json') });

/** An error or a warning of a document; only errors prevent it from being stored. */
export const documentIssue = z.object({
  severity: z.enum(['error', 'warning']),
  path: z.string(),
  code: z.string(),
  message: z.string(),
});
export type DocumentIssue = z.infer<typeof documentIssue>;

export const rosterValidation = z
  .object({ valid: z.boolean(), roster: teamRoster.nullable(), issues: z.array(documentIssue) })
  .meta({ id: 'RosterValidation' });

const memberReference = z.object({ id: slug, name: z.string(), agent: slug.nullable(), profileId: slug.nullable() });

/** What the roster alone would do with the work; nothing is recorded. */
export const rosterPreview = z
  .object({
    matched: memberReference.nullable(),
    fallback: memberReference.nullable(),
    reviewers: z.array(memberReference),
    selected: z.object({ agent: slug.nullable(), profileId: slug.nullable(), model: z.string().nullable() }).nullable(),
    rule: z.string().nullable(),
    reason: z.string(),
    issues: z.array(documentIssue),
  })
  .meta({ id: 'RosterPreview' });
