import { type Attachment, attachmentLimits } from '../../../contracts/tasks/attachment';
import { checkQuota } from './quota';

const aFile = (id: string, size: number): Attachment => ({
  id: `att_${id}`,
  filename: `att_${id}.txt`,
  originalName: `${id}.txt`,
  mimeType: 'text/plain',
  size,
  hasText: false,
});

describe('attachment quota', () => {
  it('takes what fits, in order, and passes over what does not', () => {
    const present = [aFile('a', attachmentLimits.taskBytes - 100)];
    const { fitting, excess } = checkQuota(present, [aFile('b', 60), aFile('c', 60), aFile('d', 40)]);
    expect(fitting.map(({ id }) => id)).toEqual(['att_b', 'att_d']);
    expect(excess).toEqual([
      { attachment: expect.objectContaining({ id: 'att_c' }), error: expect.stringContaining('bytes') },
    ]);
  });

  it('takes no more than a task may have', () => {
    const present = Array.from({ length: attachmentLimits.files - 1 }, (_, number) => aFile(String(number), 1));
    const { fitting, excess } = checkQuota(present, [aFile('x', 1), aFile('y', 1)]);
    expect([fitting.length, excess.length]).toEqual([1, 1]);
  });
});
