import type { z } from 'zod';
import type { Prompt, promptCreate, promptPatch } from '../../../contracts/knowledge/prompt';
import { variablesOf } from '../../../domain/prompts/render';
import { validationError } from '../../../platform/errors/app-error';
import { compact } from '../../../platform/json/compact';
import { operationTime } from '../../../platform/operations/operation';
import type { PromptFields } from '../../../stores/knowledge/prompt-store';
import type { Recorded } from '../../../stores/port/configured-records';
import { newItemId } from '../../tasks/tasks/items';
import { plainField } from '../../tasks/tasks/plain-text';

type OwnFields = Omit<PromptFields, keyof Recorded>;

/** A prompt as callers read it. */
export const present = ({ uid: _uid, versionAt: _versionAt, ...prompt }: PromptFields & Recorded): Prompt => ({
  ...prompt,
  variables: variablesOf(prompt.content),
});

/** What a new prompt is made of. @throws AppError 400 for a name that is nothing without its tags */
export function newPrompt({ id = newItemId('prompt'), name, ...rest }: z.output<typeof promptCreate>): {
  id: string;
  fields: PromptFields;
} {
  const versionAt = operationTime().toISOString();
  const fields = { ...compact(rest), name: plainField(name, 'name'), version: 1, versionAt, uid: newItemId('uid') };
  return { id, fields };
}

/** What a patch makes of a prompt: another content is another version. @throws AppError 400, also from the change */
export function patchedPrompt(
  patch: Omit<z.output<typeof promptPatch>, 'expectedRevision'>,
): (current: OwnFields) => PromptFields {
  const { content, changelog, name, category } = patch;
  const versionAt = operationTime().toISOString();
  const texts = compact({ category, name: name === undefined ? undefined : plainField(name, 'name') });
  return ({ description, changelog: former, ...current }) => {
    const described = 'description' in patch ? patch.description : description;
    const isNew = content !== undefined && content !== current.content;
    if (!isNew && changelog !== undefined && changelog !== former) {
      throw validationError([{ path: 'changelog', message: 'describes a new version, and the content is unchanged' }]);
    }
    const versioned = isNew ? { content, version: current.version + 1, versionAt } : {};
    return {
      ...current,
      ...texts,
      ...versioned,
      ...compact({ description: described, changelog: isNew ? changelog : former }),
    };
  };
}
