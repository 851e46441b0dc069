import { eventually } from '../../../../platform/testing/eventually';
import { askedFor, type ReviewModels } from '../../../support/models/review-models';
import type { Recording, Stage } from '../stage';

const reviews = '/api/decisions/reviews';

/** Reviews whose models answer, fail, and are waited for together with a person. */
export const decisionReviewScenarios =
  (models: ReviewModels) =>
  async ({ service: { call } }: Stage): Promise<Recording[]> => {
    const { id: taskId } = await call.createTask({ title: 'Decide' });
    models.provider.answers((one) =>
      askedFor(one).startsWith('refusing') ? { status: 400, body: {} } : [`Answer: ${askedFor(one)}`],
    );
    const start = async (participants: object[]): Promise<string> => {
      const body = { taskId, title: 'Which way', prompt: 'Left?', context: 'A fork.', participants };
      return (await call.ok('POST', reviews, body)).id as string;
    };
    const drafted = (id: string) =>
      eventually(async () => {
        if ((await call.ok('GET', `${reviews}/${id}`)).draft === undefined) {
          throw new Error('The draft is missing.');
        }
      });
    const answered = await start([
      { id: 'one', label: 'One', model: 'first' },
      { id: 'two', label: 'Two', model: 'second' },
    ]);
    await drafted(answered);
    const failed = await start([
      { id: 'one', label: 'One', model: 'first' },
      { id: 'refusing', label: 'Refusing', model: 'second' },
    ]);
    await drafted(failed);
    return [
      ['decision-review', `decision-review/${answered}`],
      ['decision-review-failed-model', `decision-review/${failed}`],
    ];
  };
