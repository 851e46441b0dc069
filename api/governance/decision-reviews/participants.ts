import type { DecisionReviewCreate, ReviewParticipant } from '../../../contracts/governance/decision-review';
import { AppError, assertFound, conflict } from '../../../platform/errors/app-error';
import type { AuthContext } from '../../../platform/http/auth/auth';
import { compact } from '../../../platform/json/compact';
import { plainField } from '../../tasks/tasks/plain-text';
import type { DecisionReviewContext } from './context';

type Asked = DecisionReviewCreate['participants'][number];

/** The participants of a new review, each model with what it is reached by. @throws AppError 404, 409 */
export const participantsOf = (context: DecisionReviewContext, asked: readonly Asked[]): Promise<ReviewParticipant[]> =>
  Promise.all(
    asked.map(async ({ id, label: given, profileId, ...stated }, index): Promise<ReviewParticipant> => {
      const label = plainField(given, `participants.${index}.label`);
      const model = profileId === undefined ? stated.model : await modelOfProfile(context, id, profileId);
      if (model !== undefined) {
        assertModel(context, id, model);
      }
      return { id, label, ...compact({ model, profileId }), status: 'active' };
    }),
  );

async function modelOfProfile(
  { profiles }: DecisionReviewContext,
  participantId: string,
  profileId: string,
): Promise<string> {
  const profile = await profiles.get(profileId);
  assertFound(profile, 'profile', profileId);
  const details = { participantId, profileId };
  if (!profile.enabled) {
    throw conflict(`The profile ${profileId} is disabled.`, details, 'REVIEW_PROFILE_UNUSABLE');
  }
  if (profile.model === undefined) {
    throw conflict(
      `The profile ${profileId} names no model: a review asks the model of a profile, and starts no agent.`,
      details,
      'REVIEW_PROFILE_UNUSABLE',
    );
  }
  return profile.model;
}

function assertModel({ modelNames }: DecisionReviewContext, participantId: string, model: string): void {
  if (!modelNames) {
    throw conflict(
      'No models are configured: set BOARD_MODELS to a catalog of models, or let people answer.',
      { participantId, model, setting: 'BOARD_MODELS' },
      'MODELS_NOT_CONFIGURED',
    );
  }
  if (!modelNames.has(model)) {
    throw conflict(
      `The catalog of models has no ${JSON.stringify(model)}.`,
      { participantId, model, models: [...modelNames].slice(0, 50) },
      'MODEL_UNKNOWN',
    );
  }
}

/** What a caller needs besides to have models asked, which costs as a launch does. */
const asking = 'agent:write';

/** @throws AppError 403 for a caller that may not have models asked */
export function assertMayAsk(auth: AuthContext): void {
  if (auth.permissions.includes(asking)) {
    return;
  }
  throw new AppError('FORBIDDEN', {
    status: 403,
    message: `Reviews with models need the permission ${asking}: what models answer costs.`,
    details: { required: [asking], currentRole: auth.role, currentPermissions: auth.permissions },
  });
}
