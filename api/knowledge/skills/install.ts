import type { SharedResource, SharedResourceFields } from '../../../contracts/knowledge/shared-resource';
import { AppError, conflict } from '../../../platform/errors/app-error';
import type { ApiContext } from '../../context';
import { exceptionOf } from './find-skill';
import { judge } from './inventory';

export type InstallContext = Pick<ApiContext, 'sharedResources' | 'skills' | 'skillExceptions'>;

type Installed = Pick<SharedResource, 'id' | 'name' | 'type' | 'content' | 'projectIds'>;

/** What was judged: a change of something else has to be judged again. */
export interface Judged {
  /** @throws AppError 409 when others have changed the resource since */
  assertUnchanged: (next: SharedResourceFields) => void;
}

const isInstalled = ({ type, projectIds }: Pick<Installed, 'type' | 'projectIds'>): boolean =>
  type === 'skill' && projectIds.length > 0;

/**
 * Refuses to have a skill in projects that may not be installed.
 *
 * @throws AppError 409 `SKILL_BLOCKED` with the reasons
 */
export async function assertInstallable(context: InstallContext, resource: Installed): Promise<Judged> {
  if (isInstalled(resource)) {
    const { id: skillId, name, content } = resource;
    const version = await context.skills.ofText(name, content);
    const skill = { ...version, skillId, path: skillId, targetType: 'shared-resource' as const };
    const { decision, reasons } = judge(skill, await exceptionOf(context, skillId), new Date());
    if (decision === 'block') {
      throw new AppError('SKILL_BLOCKED', {
        status: 409,
        message: 'The skill may not be installed. Fix what was found, or have an exception reviewed.',
        details: { resourceType: 'shared resource', resourceId: skillId, decision, reasons, digest: version.digest },
      });
    }
  }
  return {
    assertUnchanged(next) {
      const isSame = next.content === resource.content && next.type === resource.type;
      if (isInstalled(next) && !(isSame && isInstalled(resource))) {
        throw conflict('Others have changed the resource meanwhile. Send it again.', { resourceId: resource.id });
      }
    },
  };
}
