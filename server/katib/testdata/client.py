"""Sends requests of Katib with the stubs of the package kubeflow-katib: one JSON object per line in, one out.

    python client.py HOST:PORT
"""

import importlib.util
import json
import sys
import types

# The package itself imports clients of Kubernetes. The stubs need none of them.
package = types.ModuleType("kubeflow.katib")
package.__path__ = importlib.util.find_spec("kubeflow.katib").submodule_search_locations
sys.modules["kubeflow.katib"] = package

import grpc  # noqa: E402
from google.protobuf import json_format  # noqa: E402
from grpc_health.v1 import health_pb2, health_pb2_grpc  # noqa: E402
from kubeflow.katib import katib_api_pb2, katib_api_pb2_grpc  # noqa: E402

if len(sys.argv) == 1:
    sys.exit(0)  # the packages are there
channel = grpc.insecure_channel(sys.argv[1])
suggestion = katib_api_pb2_grpc.SuggestionStub(channel)
health = health_pb2_grpc.HealthStub(channel)
methods = {
    "GetSuggestions": (suggestion.GetSuggestions, katib_api_pb2.GetSuggestionsRequest),
    "ValidateAlgorithmSettings": (suggestion.ValidateAlgorithmSettings, katib_api_pb2.ValidateAlgorithmSettingsRequest),
    "Check": (health.Check, health_pb2.HealthCheckRequest),
}
for line in sys.stdin:
    call = json.loads(line)
    method, message = methods[call["method"]]
    try:
        reply = method(json_format.ParseDict(call["request"], message()), timeout=60)
        answer = {"reply": json_format.MessageToDict(reply, preserving_proto_field_name=True)}
    except grpc.RpcError as error:
        answer = {"code": error.code().name, "message": error.details()}
    print(json.dumps(answer), flush=True)
