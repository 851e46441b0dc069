import type { TransitionHooks } from '../../../contracts/settings/transition-hook';
import type { HttpContext } from '../../../platform/http/context';
import type { StatedRevision } from '../../../platform/http/limits/precondition';
import type { StoredTransitionHooks, TransitionHookStore } from '../../../stores/settings/transition-hook-store';
import { setRevision, settingResource, statedRevision } from '../../revisions';
import type { HooksChange } from './rules';

const setting = settingResource('transition-hooks');

/** Changes the rules at the revision that a caller states, and answers with the new one in the headers. */
export function createHooksEditor(store: TransitionHookStore) {
  return {
    /** @throws AppError 409 when they are at another revision; what `change` throws */
    async change(change: HooksChange, stated: StatedRevision): Promise<StoredTransitionHooks> {
      const expected = await statedRevision({ ...setting, current: () => store.read() }, stated);
      return store.change(change, expected);
    },

    answer(ctx: HttpContext, { value, revision }: StoredTransitionHooks): TransitionHooks {
      setRevision(ctx, { ...setting, revision });
      return value;
    },
  };
}
