import { z } from 'zod';
import { attemptId, clearable, revision, slug, text, timestamp } from '../common';
import { taskCreate, taskPriority } from '../tasks/task';

const name = text(200, 1);

/** What a task made from a template begins with; a client fills `{{variable}}` in. */
const taskDefaults = z.strictObject({
  type: taskCreate.shape.type,
  priority: taskPriority.optional(),
  project: text(200).optional(),
  descriptionTemplate: text(100_000).optional(),
  agent: slug.optional(),
});

const subtaskTemplates = z
  .array(
    z.strictObject({
      title: text(200, 1),
      order: z.number().int().min(0).max(10_000).optional(),
      acceptanceCriteria: z.array(text(500, 1)).max(100).optional(),
    }),
  )
  .max(100);

/** Several tasks at once, some of which wait for others. */
const blueprint = z
  .array(
    z.strictObject({
      refId: slug,
      title: text(200, 1),
      taskDefaults: taskDefaults.optional(),
      subtaskTemplates: subtaskTemplates.optional(),
      blockedByRefs: z.array(slug).max(50).optional(),
    }),
  )
  .max(50);

/** How a client launches what it has made. */
const launch = z.strictObject({
  agent: slug.optional(),
  profileId: slug.optional(),
  sandboxPresetId: slug.optional(),
  model: text(200, 1).optional(),
});

const optional = {
  description: text(2_000),
  category: text(100, 1),
  subtaskTemplates,
  blueprint,
  launch,
};

const fields = { name, taskDefaults, ...z.object(optional).partial().shape };

export const templateId = z
  .string()
  .regex(/^template_[0-9a-f]{12}$/, 'must look like template_0123456789ab')
  .meta({ id: 'TemplateId' });

/** What tasks are made from. `version` grows with every change. */
export const template = z
  .object({ id: templateId, ...fields, version: revision, created: timestamp, updated: timestamp })
  .meta({ id: 'Template' });
export type Template = z.infer<typeof template>;

export const templateCreate = z.strictObject(fields).meta({ id: 'TemplateCreate' });
export type TemplateFields = z.infer<typeof templateCreate>;

/** The attempt whose task and launch become a template; its name is the title of the task when absent. */
export const templateDistillation = z
  .strictObject({ runId: attemptId, name: name.optional() })
  .meta({ id: 'TemplateDistillation' });

/** Each field that is set replaces the one of the template. */
export const templatePatch = z
  .strictObject({
    name: name.optional(),
    taskDefaults: taskDefaults.optional(),
    description: clearable(optional.description),
    category: clearable(optional.category),
    subtaskTemplates: clearable(optional.subtaskTemplates),
    blueprint: clearable(optional.blueprint),
    launch: clearable(optional.launch),
    /** The version of the template, after the headers. */
    expectedRevision: revision.optional(),
  })
  .meta({ id: 'TemplatePatch' });

/** What a client reports to have done to a task. */
export const templateApplication = z
  .strictObject({
    templateId,
    templateName: name.optional(),
    fieldsChanged: z.array(text(100, 1)).max(100).optional(),
  })
  .meta({ id: 'TemplateApplication' });
