"""Fixed addresses of the sender: a network of its own by parameter, and nothing of it without."""

from __future__ import annotations

import json
from collections.abc import Callable
from ipaddress import ip_network
from typing import Any

import pytest

Select = Callable[[str], dict[str, Any]]

ONE = {
    "EgressNetwork", "EgressInternet", "EgressInternetOfNetwork", "EgressPublicRoutes", "EgressPublicWayOut",
    "EgressPublicA", "EgressPublicAHasRoutes", "EgressAddressA", "EgressNatA", "EgressPrivateA", "EgressPrivateRoutesA",
    "EgressWayOutA", "EgressPrivateAHasRoutes", "EgressToTable", "EgressToBodies", "EgressSecurityGroup",
}  # fmt: skip
TWO = {
    "EgressPublicB", "EgressPublicBHasRoutes", "EgressAddressB", "EgressNatB", "EgressPrivateB", "EgressPrivateRoutesB",
    "EgressWayOutB", "EgressPrivateBHasRoutes",
}  # fmt: skip


def made(template: dict[str, Any], addresses: int) -> set[str]:
    """The resources of the network that a stack with so many addresses has."""
    holds = {"HasEgress": addresses > 0, "HasTwoEgress": addresses == 2}
    return {
        name
        for name, resource in template["Resources"].items()
        if resource["Type"].startswith("AWS::EC2::") and holds[resource["Condition"]]
    }


def chosen(value: Any, addresses: int) -> Any:
    """A value with its conditions decided."""
    if isinstance(value, dict) and "Fn::If" in value:
        name, yes, no = value["Fn::If"]
        return chosen(yes if {"HasEgress": addresses > 0, "HasTwoEgress": addresses == 2}[name] else no, addresses)
    if isinstance(value, dict):
        return {key: chosen(each, addresses) for key, each in value.items()}
    if isinstance(value, list):
        return [chosen(each, addresses) for each in value]
    return value


def test_it_is_off_by_default_and_decided_by_one_parameter(template: dict[str, Any]) -> None:
    parameter = template["Parameters"]["EgressAddresses"]
    assert (parameter["Default"], parameter["AllowedValues"]) == (0, [0, 1, 2])
    assert template["Conditions"]["HasEgress"] == {"Fn::Not": [{"Fn::Equals": [{"Ref": "EgressAddresses"}, 0]}]}
    assert template["Conditions"]["HasTwoEgress"] == {"Fn::Equals": [{"Ref": "EgressAddresses"}, 2]}


@pytest.mark.parametrize(("addresses", "names"), [(0, set[str]()), (1, ONE), (2, ONE | TWO)])
def test_a_stack_has_a_network_of_as_many_zones_as_addresses(
    template: dict[str, Any], addresses: int, names: set[str]
) -> None:
    assert made(template, addresses) == names


@pytest.mark.parametrize("addresses", [0, 1, 2])
def test_nothing_refers_to_what_a_stack_does_not_have(template: dict[str, Any], addresses: int) -> None:
    absent = (ONE | TWO) - made(template, addresses)
    there = {name: row for name, row in template["Resources"].items() if name not in absent}
    outputs = {name: row for name, row in template["Outputs"].items() if row.get("Condition") != "HasEgress"}
    if addresses:
        outputs = template["Outputs"]
    known = {"HasEgress", "HasTwoEgress"}

    def decided(value: Any) -> Any:
        if isinstance(value, dict) and "Fn::If" in value and value["Fn::If"][0] in known:
            return chosen(value, addresses)
        if isinstance(value, dict):
            return {key: decided(each) for key, each in value.items()}
        return [decided(each) for each in value] if isinstance(value, list) else value

    text = json.dumps(decided([there, outputs]))
    assert [name for name in absent if f'"{name}"' in text or f"${{{name}}}" in text] == []


@pytest.mark.parametrize(("addresses", "subnets"), [(1, ["EgressPrivateA"]), (2, ["EgressPrivateA", "EgressPrivateB"])])
def test_the_sender_is_in_it_and_waits_for_its_ways_out(of_type: Select, addresses: int, subnets: list[str]) -> None:
    functions = of_type("AWS::Lambda::Function")
    network = chosen(functions["SendWebhooksFunction"]["VpcConfig"], addresses)
    assert network["SecurityGroupIds"] == [{"Ref": "EgressSecurityGroup"}]
    for subnet, wanted in zip(network["SubnetIds"], subnets, strict=True):
        place, waited_for = subnet["Fn::Select"]
        zone = wanted[-1]
        assert waited_for[place] == {"Ref": wanted}
        assert {each["Ref"] for each in waited_for} == {wanted, f"{wanted}HasRoutes", f"EgressWayOut{zone}"}


def test_no_other_function_is_in_a_network_and_neither_is_the_sender_without(of_type: Select) -> None:
    functions = of_type("AWS::Lambda::Function")
    assert {name for name, function in functions.items() if "VpcConfig" in function} == {"SendWebhooksFunction"}
    assert chosen(functions["SendWebhooksFunction"]["VpcConfig"], 0) == {"Ref": "AWS::NoValue"}


@pytest.mark.parametrize("zone", ["A", "B"])
def test_a_zone_goes_out_by_its_own_address(of_type: Select, zone: str) -> None:
    assert of_type("AWS::EC2::NatGateway")[f"EgressNat{zone}"] | {"Tags": []} == {
        "AllocationId": {"Fn::GetAtt": [f"EgressAddress{zone}", "AllocationId"]},
        "SubnetId": {"Ref": f"EgressPublic{zone}"},
        "Tags": [],
    }
    assert of_type("AWS::EC2::Route")[f"EgressWayOut{zone}"] == {
        "RouteTableId": {"Ref": f"EgressPrivateRoutes{zone}"},
        "DestinationCidrBlock": "0.0.0.0/0",
        "NatGatewayId": {"Ref": f"EgressNat{zone}"},
    }
    associations = of_type("AWS::EC2::SubnetRouteTableAssociation")
    assert associations[f"EgressPrivate{zone}HasRoutes"] == {
        "SubnetId": {"Ref": f"EgressPrivate{zone}"},
        "RouteTableId": {"Ref": f"EgressPrivateRoutes{zone}"},
    }
    assert associations[f"EgressPublic{zone}HasRoutes"]["RouteTableId"] == {"Ref": "EgressPublicRoutes"}
    subnets = of_type("AWS::EC2::Subnet")
    zones = {subnets[f"Egress{kind}{zone}"]["AvailabilityZone"]["Fn::Select"][0] for kind in ("Public", "Private")}
    assert zones == {"AB".index(zone)}


def test_subnets_lie_apart_in_the_network(of_type: Select) -> None:
    network = ip_network(of_type("AWS::EC2::VPC")["EgressNetwork"]["CidrBlock"])
    subnets = [ip_network(subnet["CidrBlock"]) for subnet in of_type("AWS::EC2::Subnet").values()]
    assert all(subnet.subnet_of(network) for subnet in subnets)  # type: ignore[arg-type]
    assert not any(one.overlaps(other) for one in subnets for other in subnets if one is not other)


def test_nothing_comes_in(of_type: Select) -> None:
    group = of_type("AWS::EC2::SecurityGroup")["EgressSecurityGroup"]
    assert group["SecurityGroupIngress"] == []
    assert [(rule["IpProtocol"], rule["CidrIp"]) for rule in group["SecurityGroupEgress"]] == [("tcp", "0.0.0.0/0")]


def test_the_table_and_the_bodies_are_reached_without_nat(of_type: Select) -> None:
    endpoints = of_type("AWS::EC2::VPCEndpoint")
    assert {name: row["ServiceName"]["Fn::Sub"] for name, row in endpoints.items()} == {
        "EgressToTable": "com.amazonaws.${AWS::Region}.dynamodb",
        "EgressToBodies": "com.amazonaws.${AWS::Region}.s3",
    }
    assert {row["VpcEndpointType"] for row in endpoints.values()} == {"Gateway"}
    reached = [row["PolicyDocument"]["Statement"][0]["Resource"] for row in endpoints.values()]
    assert reached == [{"Fn::GetAtt": ["Tasks", "Arn"]}, {"Fn::Sub": "${Bodies.Arn}/*"}]
    for row in endpoints.values():
        assert chosen(row["RouteTableIds"], 1) == [{"Ref": "EgressPrivateRoutesA"}]
        assert chosen(row["RouteTableIds"], 2) == [{"Ref": "EgressPrivateRoutesA"}, {"Ref": "EgressPrivateRoutesB"}]


@pytest.mark.parametrize(
    ("addresses", "told"),
    [(1, {"Ref": "EgressAddressA"}), (2, {"Fn::Sub": "${EgressAddressA},${EgressAddressB}"})],
)
def test_the_addresses_are_an_output_and_known_to_the_card(
    template: dict[str, Any], of_type: Select, addresses: int, told: Any
) -> None:
    output = template["Outputs"]["EgressAddresses"]
    assert (output["Condition"], chosen(output["Value"], addresses)) == ("HasEgress", told)
    variables = of_type("AWS::Lambda::Function")["ApiFunction"]["Environment"]["Variables"]
    assert chosen(variables["HERALD_EGRESS_ADDRESSES"], addresses) == told
    assert chosen(variables["HERALD_EGRESS_ADDRESSES"], 0) == ""


def test_only_lambda_itself_joins_the_network(of_type: Select) -> None:
    policy = of_type("AWS::IAM::Role")["SendWebhooksRole"]["Policies"][0]["PolicyDocument"]
    found = {
        row["Fn::If"][1]["Sid"]: row["Fn::If"]
        for row in policy["Statement"]
        if row.get("Fn::If", [""])[0] == "HasEgress"
    }
    assert set(found) == {"JoinNetwork", "LeaveTheNetworkAlone"}
    (_, joins, without), (_, denied, without_either) = found["JoinNetwork"], found["LeaveTheNetworkAlone"]
    assert without == without_either == {"Ref": "AWS::NoValue"}
    assert (joins["Effect"], denied["Effect"]) == ("Allow", "Deny")
    assert denied["Action"] == joins["Action"]
    assert denied["Condition"] == {
        "ArnLike": {
            "lambda:SourceFunctionArn": {
                "Fn::Sub": "arn:${AWS::Partition}:lambda:${AWS::Region}:${AWS::AccountId}:function:"
                "${AWS::StackName}-SendWebhooksFunction-*"
            }
        }
    }
