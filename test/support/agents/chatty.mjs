// Reports as many steps of progress as its argument says, and its result.
const count = Number(process.argv[2]);
const lines = Array.from({ length: count }, (_, n) => JSON.stringify({ type: 'progress', message: `Step ${n + 1} of ${count}` }));
lines.push(JSON.stringify({ type: 'result', status: 'success', summary: 'Reported every step.' }));
process.stdout.write(`${lines.join('\n')}\n`);
