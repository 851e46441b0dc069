import { createDispatcher, type DispatcherDependencies } from '../../../../services/workflow-runs/runs/dispatcher';

describe('signals to the dispatcher of runs', () => {
  it('are shared by all who ask while one is on its way, which may come too early for them', async () => {
    const sent: { resolve: () => void; reject: (error: Error) => void }[] = [];
    const signalWithStart = () => new Promise<void>((resolve, reject) => void sent.push({ resolve, reject }));
    const client = { workflow: { signalWithStart } };
    const dispatcher = createDispatcher({ client, taskQueue: 'q' } as unknown as DispatcherDependencies);
    const first = dispatcher.lookAgain();
    const later = [dispatcher.lookAgain(), dispatcher.lookAgain(), dispatcher.lookAgain()];
    expect(sent).toHaveLength(1);
    const ended = jest.fn();
    later.forEach((each) => void each.then(ended));
    sent[0]?.reject(new Error('Temporal cannot be reached.'));
    await expect(first).rejects.toThrow('reached');
    await new Promise(setImmediate);
    expect(sent).toHaveLength(2);
    expect(ended).not.toHaveBeenCalled();
    sent[1]?.resolve();
    await Promise.all(later);
    const last = dispatcher.lookAgain();
    expect(sent).toHaveLength(3);
    sent[2]?.resolve();
    await last;
  });
});
