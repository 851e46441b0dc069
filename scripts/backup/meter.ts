import type { Report } from '../../platform/temporal/embedded/progress';

const stepPercent = 10;

/** Reports each tenth of what is done. */
export function meterOf(name: string, report: Report): (done: number, of: number) => void {
  let reported = 0;
  return (done, of) => {
    const percent = Math.floor((done / of) * 100);
    if (percent >= reported + stepPercent && of > 1) {
      reported = percent - (percent % stepPercent);
      report(`${name}: ${percent} % of ${of}`);
    }
  };
}
