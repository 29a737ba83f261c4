#include "profiler/launch/form_trials.h"

#include <algorithm>
#include <system_error>

#include "profiler/core/trace/facts.h"
#include "profiler/core/write_file.h"
#include "profiler/importers/capture/run_files.h"
#include "profiler/launch/process.h"
#include "profiler/system/environment.h"

namespace loopscope {
namespace {

namespace fs = std::filesystem;

constexpr double kTimeoutS = 40;  // importing torch from a slow disk included
constexpr char kAskedName[] = "forms-asked.txt", kSaidName[] = "forms-said.txt";

}  // namespace

std::vector<MeasuredGain> TryForms(const std::vector<FormWork>& works, const Trace& trace, const ProbePaths& probes,
                                   const fs::path& folder, Signals& signals) {
  const std::string python(FactOf(trace, "python.executable"));
  std::error_code error;
  const fs::path script = probes.preload.parent_path() / "forms" / "try_forms.py";
  if (works.empty() || python.empty() || !fs::exists(python, error) || !fs::exists(script, error)) return {};
  std::string asked;
  for (const FormWork& one : works) asked += one.form + '\t' + one.work + '\n';
  if (WritePrivateFile(folder / kAskedName, asked) != 0) return {};
  ProcessSpec spec;
  spec.command = {python,
                  "-B",
                  script,
                  folder / kAskedName,
                  folder / kFormsJsonName,
                  std::to_string(std::max<std::int64_t>(NumberFact(trace, "threads").value_or(1), 1))};
  spec.environment = AsStrings(OwnEnvironment());
  spec.output = folder / kSaidName;
  spec.role = Role::kTool;
  spec.timeout_s = kTimeoutS;
  const ProcessEnd end = RunProcess(spec, signals);
  fs::remove(folder / kAskedName, error);
  // What it says is kept for whoever looks into why it failed.
  if (end.ok()) fs::remove(folder / kSaidName, error);
  return ReadFormsJson(folder / kFormsJsonName);
}

}  // namespace loopscope
