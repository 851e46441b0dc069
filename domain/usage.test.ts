import { usageByModel } from './usage';

const usage = async (payloads: Record<string, unknown>[]) =>
  Object.fromEntries(await usageByModel(payloads, 'default'));
const none = { inputTokens: 0, outputTokens: 0, cacheTokens: 0, cost: 0 };

describe('token usage', () => {
  test('messages of the chat stores of a model is added up', async () => {
    const reported = { model: 'm', inputTokens: 10, outputTokens: 5, cost: 0.1 };
    expect(
      await usage([reported, { ...reported, cacheTokens: 3, cost: 0.2 }, { inputTokens: 1, outputTokens: 1 }]),
    ).toEqual({
      m: { inputTokens: 20, outputTokens: 10, cacheTokens: 3, cost: 0.3 },
      default: { ...none, inputTokens: 1, outputTokens: 1 },
    });
  });

  test('what came over HTTP was counted when it came', async () => {
    expect(await usage([{ inputTokens: 10, outputTokens: 5, telemetryEventId: 'event_1' }])).toEqual({});
  });

  test('numbers that are made up count as nothing', async () => {
    const made = {
      model: 'm',
      inputTokens: -5,
      outputTokens: Number.NaN,
      cacheTokens: '7',
      cost: Number.POSITIVE_INFINITY,
    };
    expect(await usage([made])).toEqual({ m: none });
  });

  test('an agent that names a thousand models is counted, not followed', async () => {
    const models = await usage(
      Array.from({ length: 1000 }, (_, index) => ({ model: `m${index}`, inputTokens: 1, outputTokens: 0 })),
    );
    expect(Object.keys(models)).toHaveLength(33);
    expect(Object.values(models).reduce((sum, { inputTokens }) => sum + inputTokens, 0)).toBe(1000);
  });
});
